import { type Static, Type } from '@sinclair/typebox';
import { defineError, httpErrors } from '../../http/errors.ts';
import { BigId, Body, Int32, NamedObject, Url } from '../../http/schemas.ts';

export const imageErrors = {
  invalidImage: defineError(400, 'invalid_image', {
    ko: 'JPEG, PNG, WebP 사진만 올릴 수 있습니다. 손상된 파일과 5,000만 화소가 넘거나 한 변이 16,384픽셀을 넘는 사진은 올릴 수 없습니다.',
    en: 'The file must be a complete JPEG, PNG or WebP image of at most 50 megapixels, with neither side above 16,384 pixels.',
  }),
  conversionTimeout: {
    ...httpErrors.serviceUnavailable,
    text: { ko: '사진을 처리하는 데 시간이 너무 오래 걸립니다.', en: 'The image takes too long to process.' },
  },
  tooLarge: {
    ...httpErrors.payloadTooLarge,
    text: { ko: '사진은 10MB 이하여야 합니다.', en: 'An image may have at most 10 MB.' },
  },
  notMultipart: {
    ...httpErrors.unsupportedMediaType,
    text: { ko: '사진은 multipart/form-data로 보내 주세요.', en: 'The body must be multipart/form-data.' },
  },
  imageNotFound: defineError(404, 'image_not_found', {
    ko: '해당 사진을 찾을 수 없습니다.',
    en: 'The image was not found.',
  }),
  imageInUse: defineError(409, 'image_in_use', {
    ko: '글에 사용 중인 사진은 삭제할 수 없습니다. 먼저 글에서 사진을 빼 주세요.',
    en: 'A post uses this image. Please remove it from the post first.',
  }),
};

const exampleUrl = 'https://api.example.com/media/3f/1ab0e25b1f4e0e9a590d4a1b2c3d4e';

export const Image = NamedObject('Image', 'An uploaded image', {
  id: BigId('Identifier of the image'),
  url: Url('WebP of at most 1,600 px; in `images` of a post it stands for this image', `${exampleUrl}.webp`),
  thumbnail_url: Url('WebP of at most 480 px', `${exampleUrl}-480.webp`),
  width: Int32('Of the image at `url`, in pixels', 1600),
  height: Int32('Of the image at `url`, in pixels', 1200),
});
export type Image = Static<typeof Image>;

export const NewImage = Body('NewImage', 'An image to upload', {
  image: Type.Unsafe<Buffer>({
    type: 'string',
    format: 'binary',
    description:
      'A file: JPEG, PNG or WebP, whatever its name and type say; at most 10 MiB and 50 megapixels',
  }),
});
