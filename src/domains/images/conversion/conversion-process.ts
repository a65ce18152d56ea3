import process from 'node:process';
import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';

/*
 * A process that converts one image: the file comes on standard input, the result goes to standard output. `convert.ts` starts it
 * with limits of memory and time.
 */

// One thread for each image. Images differ, so a cache only takes memory.
sharp.concurrency(1);
sharp.cache(false);
// No other decoder runs, whatever the bytes resemble.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
});

/** Pixels of an image before it is decoded, and of its longer side: a decoder may keep many rows in memory. */
const maxPixels = 50_000_000;
const maxSide = 16_384;
/** Pixels of the longer side, and quality of WebP. */
const sizes = { large: { side: 1_600, quality: 80 }, thumbnail: { side: 480, quality: 75 } };
/** More effort costs three times the processor time of the encoder and saves two hundredths of the size. */
const effort = 2;

/**
 * Decodes an image once and encodes both sizes, upright and without metadata; of an animated one the first frame.
 *
 * @param maxDecodedBytes with 16 bits a channel, as interlaced PNG and progressive JPEG have
 * @returns width, height and bytes of the large size as 32-bit integers, then both sizes; nothing for an image with more bytes
 */
async function convert(file: Buffer, maxDecodedBytes: number): Promise<Buffer> {
  const image = sharp(file, { failOn: 'error', limitInputPixels: maxPixels, sequentialRead: true });
  const { width, height, channels } = await image.metadata();
  if (Math.max(width, height) > maxSide) throw new Error(`a side of ${Math.max(width, height)} pixels`);
  if (width * height * channels * 2 > maxDecodedBytes) return Buffer.alloc(0);
  const { data, info } = await image
    .autoOrient()
    .resize(boxOf(sizes.large.side))
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const pixels = { raw: { width: info.width, height: info.height, channels: info.channels } };
  const large = await sharp(data, pixels).webp({ quality: sizes.large.quality, effort }).toBuffer();
  const thumbnail = await sharp(data, pixels)
    .resize(boxOf(sizes.thumbnail.side))
    .webp({ quality: sizes.thumbnail.quality, effort })
    .toBuffer();
  const header = Buffer.alloc(12);
  for (const [index, value] of [info.width, info.height, large.length].entries()) {
    header.writeUInt32BE(value, 4 * index);
  }
  return Buffer.concat([header, large, thumbnail]);
}

const boxOf = (side: number) =>
  ({ width: side, height: side, fit: 'inside', withoutEnlargement: true }) as const;

try {
  process.stdout.write(await convert(await buffer(process.stdin), Number(process.argv[2])));
} catch (error) {
  process.stderr.write(String(error));
  // EX_DATAERR of sysexits.h.
  process.exitCode = 65;
}
