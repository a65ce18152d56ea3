import { ApiError, serviceUnavailable } from '../../http/errors.ts';
import { imageErrors } from '../errors.ts';
import { sharp } from './sharp.ts';

/** Pixels of a picture before it is decoded. */
const maxPixels = 50_000_000;

/** Pixels of the longer side. */
const sizes = { large: 1_600, thumbnail: 480 } as const;

/** Seconds after which decoding, or encoding one size, is given up. Pictures of cameras take a fraction of it. */
const timeLimit = 5;

/** More effort costs three times the processor time of the encoder and saves two hundredths of the size. */
const effort = 2;

const quality = { large: 80, thumbnail: 75 } as const;

/** A picture as it is kept: WebP without metadata, in sRGB, upright. */
export interface ConvertedImage {
  large: Buffer;
  thumbnail: Buffer;
  /** Pixels of the large version. */
  width: number;
  height: number;
}

/** The formats that are decoded, by their first bytes. */
const signatures: Record<string, (start: string) => boolean> = {
  jpeg: (start) => start.startsWith('\xff\xd8\xff'),
  png: (start) => start.startsWith('\x89PNG\r\n\x1a\n'),
  webp: (start) => start.startsWith('RIFF') && start.slice(8).startsWith('WEBPVP8'),
};

/**
 * Decodes a picture once and encodes both sizes from its pixels. Of an animated one, the first frame is kept.
 *
 * @param onDecode called when the header was accepted
 * @throws {ApiError} `invalid_image`; `service_unavailable` when it takes too long
 */
export async function convertImage(bytes: Buffer, onDecode: () => void): Promise<ConvertedImage> {
  const { data, info } = await decode(bytes, onDecode);
  const pixels = { raw: { width: info.width, height: info.height, channels: info.channels } };
  const large = await sharp(data, pixels)
    .webp({ quality: quality.large, effort })
    .timeout({ seconds: timeLimit })
    .toBuffer();
  const thumbnail = await sharp(data, pixels)
    .resize({ ...boxOf(sizes.thumbnail) })
    .webp({ quality: quality.thumbnail, effort })
    .timeout({ seconds: timeLimit })
    .toBuffer();
  return { large, thumbnail, width: info.width, height: info.height };
}

/** The upright pixels of a picture in sRGB, 8 bits each, no larger than the large version. Metadata is dropped. */
async function decode(bytes: Buffer, onDecode: () => void) {
  const start = bytes.toString('latin1', 0, 16);
  const [format] = Object.entries(signatures).find(([, signature]) => signature(start)) ?? [];
  if (format === undefined) throw new ApiError(imageErrors.invalidImage);
  try {
    const picture = sharp(bytes, { failOn: 'error', limitInputPixels: maxPixels, sequentialRead: true });
    const header = await picture.metadata();
    if (header.format !== format) throw new Error(`a ${header.format} that begins as a ${format}`);
    onDecode();
    return await picture
      .autoOrient()
      .resize({ ...boxOf(sizes.large) })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .timeout({ seconds: timeLimit })
      .toBuffer({ resolveWithObject: true });
  } catch (cause) {
    if (cause instanceof Error && /^timeout/.test(cause.message)) throw serviceUnavailable(cause);
    throw new ApiError(imageErrors.invalidImage, { cause });
  }
}

function boxOf(side: number) {
  return { width: side, height: side, fit: 'inside', withoutEnlargement: true } as const;
}
