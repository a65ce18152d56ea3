import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The message of an error of the operating system; where it is about the permission for a path, whose that is and what to do. */
export function describeSystemError({ code = '', message, path }: NodeJS.ErrnoException): string {
  if (path === undefined || !/^(EACCES|EPERM|EROFS|EEXIST|ENOTDIR)$/.test(code)) return message;
  let found = path;
  while (!existsSync(found)) found = dirname(found);
  const stats = statSync(found);
  const what = stats.isDirectory() ? 'folder' : 'file';
  const whose = process.getuid ? ` of user id ${stats.uid}, and this is ${process.getuid()}` : '';
  return `${message}: ${found} is a ${what}${whose}. Choose another path, or change its owner or permissions.`;
}

/** Whether an error is one of the operating system, such as `ENOENT`. */
export const hasSystemCode = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'errno' in error;
