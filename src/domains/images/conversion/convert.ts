import { type ExecFileException, execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import PQueue from 'p-queue';
import { ApiError, serviceUnavailable } from '../../../http/errors.ts';
import { imageErrors } from '../schemas.ts';

/** An image as it is kept: WebP without metadata, in sRGB, upright. */
type ConvertedImage = { large: Buffer; thumbnail: Buffer; width: number; height: number };

/** Processes at once, of which one converts a large image; their memory is what deployments have room for. */
const maxConcurrent = 2;
/** Conversions that may wait. At about 0.5 s each they take seconds; more would only time out. */
const maxWaiting = 20;

/** Converts an image with the memory for small or for all accepted images; undefined when it needs more. */
type Convert = (file: Buffer, size: keyof typeof limits) => Promise<ConvertedImage | undefined>;

export type ConversionQueue = ReturnType<typeof createConversionQueue>;
/** Converts images, a few at a time. A user has one turn at a time, so that the images of one do not keep those of others waiting. */
export function createConversionQueue(convert: Convert) {
  const turns = new PQueue({ concurrency: maxConcurrent });
  const largeTurns = new PQueue({ concurrency: 1 });
  const users = new Map<number, PQueue>();

  /** Converts an image in its turn, first with the memory for small ones, unless the request was answered meanwhile. */
  async function add(userId: number, file: Buffer, isObsolete: () => boolean): Promise<ConvertedImage> {
    if (waiting() >= maxWaiting) throw serviceUnavailable(new Error('the queue of conversions is full'));
    const convertInTurn = (size: 'small' | 'large') =>
      turns.add(async () => {
        if (!isObsolete()) return convert(file, size);
        throw serviceUnavailable(new Error('the request was answered before the conversion'));
      });
    const image = await turnsOf(userId).add(
      async () => (await convertInTurn('small')) ?? largeTurns.add(() => convertInTurn('large')),
    );
    if (image === undefined) throw new ApiError(imageErrors.invalidImage);
    return image;
  }

  function turnsOf(userId: number): PQueue {
    const own = users.get(userId) ?? new PQueue({ concurrency: 1 }).once('idle', () => users.delete(userId));
    users.set(userId, own);
    return own;
  }

  function waiting(): number {
    const unfinished = [...users.values()].reduce((sum, { size, pending }) => sum + size + pending, 0);
    return unfinished - turns.pending;
  }

  return { convert: add, running: () => turns.pending, waiting };
}

/** MiB of private memory, of which Node.js takes 150, and of a decoded image. The most demanding images need 300 and 600. */
const limits = { small: { memory: 384, decoded: 96 }, large: { memory: 768, decoded: 384 } } as const;
/** Seconds until a conversion is killed, before the request is answered without it. Images of phones take less than one. */
const timeLimit = 8;
/** Bytes of both sizes, which have a tenth of it. */
const maxOutput = 32 * 1024 * 1024;
const script = fileURLToPath(new URL('./conversion-process.js', import.meta.url));
/** A limit that cannot be set, as on macOS, is left out. Without `--jitless`, Node.js 24 reserves memory above the limit. */
const command = 'ulimit -d "$1"; ulimit -t "$2"; ulimit -c 0; exec nice -n 5 "$3" --jitless "$4" "$5"';
/** The first bytes of JPEG, PNG and WebP; a dot is any byte. */
const signatures = ['\xff\xd8\xff', '\x89PNG\r\n\x1a\n', 'RIFF....WEBPVP8'];
/** The most scans of a JPEG: encoders make about ten, and each may cost a pass over all pixels. */
const maxScans = 100;
/** Markers, stuffed zeros and fill bytes of a JPEG: with 50 megapixels and a restart after each block it has half of them. */
const maxMarkers = 500_000;

/**
 * Converts an image in a process of its own, with limits of memory and processor time, and no environment variables. What an image
 * does to its decoder ends with that process.
 *
 * @param limitFactor how many times longer than in production it may take
 * @returns undefined for an image that needs more memory
 */
export async function convertImage(file: Buffer, size: keyof typeof limits, limitFactor = 1) {
  const start = file.toString('latin1', 0, 16);
  const isKnown = signatures.some((signature) => [...signature].every((c, i) => c === '.' || c === start[i]));
  if (!isKnown || hasTooManyScans(file)) throw new ApiError(imageErrors.invalidImage);
  const { memory, decoded } = limits[size];
  const seconds = Math.ceil(timeLimit * limitFactor);
  const values = [memory * 1024, seconds, process.execPath, script, decoded * 1024 * 1024];
  const running = promisify(execFile)('/bin/sh', ['-c', command, 'sh', ...values.map(String)], {
    encoding: 'buffer',
    // One arena of malloc, and no files for large images: both would escape the limit of memory.
    env: { MALLOC_ARENA_MAX: '1', VIPS_DISC_THRESHOLD: '1g' },
    timeout: seconds * 1_000,
    killSignal: 'SIGKILL',
    maxBuffer: maxOutput,
  });
  // The process may end before it has read everything.
  running.child.stdin?.on('error', () => undefined).end(file);
  const { stdout: output } = await running.catch((error: Ended) => {
    throw conversionError(error);
  });
  if (output.length === 0) return undefined;
  const end = 12 + output.readUInt32BE(8);
  return {
    large: output.subarray(12, end),
    thumbnail: output.subarray(end),
    width: output.readUInt32BE(0),
    height: output.readUInt32BE(4),
  };
}

/** Walks the segments of a JPEG (ITU-T T.81, annex B) up to its end; what follows is no part of it. */
function hasTooManyScans(file: Buffer): boolean {
  if (file[0] !== 0xff) return false;
  let [scans, markers] = [0, 0];
  for (let at = file.indexOf(0xff, 2); at >= 0 && at + 4 <= file.length; at = file.indexOf(0xff, at)) {
    const marker = file[at + 1] ?? 0;
    if (marker === 0xd9) break;
    // A stuffed zero or a restart within a scan, or a fill byte.
    const isAlone = marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8);
    if (marker === 0xda) scans++;
    if (++markers > maxMarkers) return true;
    if (marker === 0xff) at += 1;
    else at += isAlone ? 2 : 2 + file.readUInt16BE(at + 2);
  }
  return scans > maxScans;
}

type Ended = Pick<ExecFileException, 'code' | 'signal'> & { stderr: Buffer };

/** What ended the process: its time (of the processor, too, which outlives this process), the image, or a broken installation. */
function conversionError({ code, signal, stderr }: Ended): Error {
  const cause = new Error(`the conversion ended with ${signal ?? code}: ${stderr.toString('utf8', 0, 500)}`);
  const headers = { 'retry-after': '5' };
  if (signal === 'SIGKILL') return new ApiError(imageErrors.conversionTimeout, { cause, headers });
  return signal || code === 65 ? new ApiError(imageErrors.invalidImage, { cause }) : cause;
}
