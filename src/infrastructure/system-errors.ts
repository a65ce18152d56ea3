import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The message of an error of the operating system; where a path cannot be used, with what or whose that is, and what to do. */
export function describeSystemError({ code = '', message, path }: NodeJS.ErrnoException): string {
  if (path === undefined || !/^(EACCES|EPERM|EEXIST|ENOTDIR)$/.test(code)) return message;
  let found = path;
  while (!existsSync(found) && found !== dirname(found)) found = dirname(found);
  const stats = statSync(found);
  if (!stats.isDirectory()) return `${message}. ${found} is a file: choose another path.`;
  const whose = `belongs to user id ${stats.uid}, and this process runs as ${process.getuid?.()}`;
  return `${message}. ${found} ${whose}: change its owner or permissions, or choose another path.`;
}

/** Whether an error is one of the operating system, such as `ENOENT`. */
export const hasSystemCode = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'errno' in error;
