import { type ErrorDefinition, httpErrors } from '../http/errors.ts';

/** Failures of the operations on pictures. */
export const imageErrors = {
  invalidImage: {
    code: 'invalid_image',
    status: 400,
    text: {
      ko: 'JPEG, PNG, WebP 사진만 올릴 수 있습니다. 손상된 파일과 5,000만 화소가 넘거나 한 변이 16,384픽셀을 넘는 사진은 올릴 수 없습니다.',
      en: 'The file must be a complete JPEG, PNG or WebP image of at most 50 megapixels, with neither side above 16,384 pixels.',
    },
  },
  conversionTimeout: {
    ...httpErrors.serviceUnavailable,
    text: { ko: '사진을 처리하는 데 시간이 너무 오래 걸립니다.', en: 'The image takes too long to process.' },
  },
  tooLarge: {
    ...httpErrors.payloadTooLarge,
    text: { ko: '사진은 10MB 이하여야 합니다.', en: 'A picture may have at most 10 MB.' },
  },
  notMultipart: {
    ...httpErrors.unsupportedMediaType,
    text: { ko: '사진은 multipart/form-data로 보내 주세요.', en: 'The body must be multipart/form-data.' },
  },
  imageNotFound: {
    code: 'image_not_found',
    status: 404,
    text: { ko: '해당 사진을 찾을 수 없습니다.', en: 'The picture was not found.' },
  },
  imageInUse: {
    code: 'image_in_use',
    status: 409,
    text: {
      ko: '글에 사용 중인 사진은 삭제할 수 없습니다. 먼저 글에서 사진을 빼 주세요.',
      en: 'A post uses this picture. Please remove it from the post first.',
    },
  },
} as const satisfies Record<string, ErrorDefinition>;
