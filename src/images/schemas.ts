import { type Static, Type } from '@sinclair/typebox';
import { Int32 } from '../http/schemas.ts';

const exampleUrl = 'https://api.example.com/media/3f/1ab0e25b1f4e0e9a590d4a1b2c3d4e';

export const Image = Type.Object(
  {
    id: Int32({ description: 'Never changes', examples: [1] }),
    url: Type.String({
      format: 'uri',
      description: 'WebP of at most 1,600 px; in `images` of a post it stands for this picture',
      examples: [`${exampleUrl}.webp`],
    }),
    thumbnail_url: Type.String({
      format: 'uri',
      description: 'WebP of at most 480 px',
      examples: [`${exampleUrl}-480.webp`],
    }),
    width: Int32({ description: 'Of the picture at `url`, in pixels', examples: [1600] }),
    height: Int32({ description: 'Of the picture at `url`, in pixels', examples: [1200] }),
  },
  { $id: 'Image', description: 'An uploaded picture' },
);
export type Image = Static<typeof Image>;

export const NewImage = Type.Object(
  {
    // Without a type, because the validator sees bytes; the document adds that of a file.
    image: Type.Unsafe<Buffer>({
      format: 'binary',
      description:
        'A file: JPEG, PNG or WebP, whatever its name and type say; at most 10 MB and 50 megapixels',
    }),
  },
  { $id: 'NewImage', description: 'A picture to upload', additionalProperties: false },
);

/** Registered by `$id`, so that the OpenAPI document names them. */
export const imageSchemas = [Image, NewImage];
