import { Type } from '@sinclair/typebox';
import { invalidFields } from '../../http/errors.ts';
import { PageQuery } from '../../http/pagination.ts';
import { documented, Id, Int32, OrNull } from '../../http/schemas.ts';
import { OptionalLine, pattern } from '../../http/text.ts';
import type { Near } from '../../infrastructure/search/near.ts';

/* What stores and posts are searched by. */

/** How the texts of both lists are searched. */
export const textMatch =
  'Case and all white space are ignored, here and in the texts: `두레카페` finds 두레 카페, and 두레카페 is found by `두레 카페`.';

/** How regions are searched. */
export const regionMatch =
  'Each word is the `sido`, a part of the `sigungu`, or the `dong`; 시, 군, 구, 동, 읍, 면 and 가 at its end may be left out: `서울 마포구`, `성남 분당`, `망원동`.';

export const defaultRadius = 3_000;

/** A place, and how far from it: in the queries of lists, and in saved searches. */
export const NearFields = {
  near: Type.Optional(
    Type.String({
      ...pattern(
        '^-?(80(\\.0{1,15})?|[0-7]?[0-9](\\.[0-9]{1,15})?),-?(177(\\.0{1,15})?|(17[0-6]|1[0-6][0-9]|[0-9]{1,2})(\\.[0-9]{1,15})?)$',
        {
          ko: '위도(-80~80)와 경도(-177~177)를 쉼표로 이어 적어 주세요. 예: 37.5563,126.9236',
          en: 'Must be a latitude (-80 to 80) and a longitude (-177 to 177) with a comma between them, such as 37.5563,126.9236.',
        },
      ),
      ...documented({ maxLength: 40 }),
      description:
        'Latitude and longitude in degrees: only stores with a location within `radius_m` of it, or their posts, the nearest first. Not beyond 80 degrees of latitude and 177 of longitude.',
    }),
  ),
  radius_m: Type.Optional(
    Int32(`Metres around \`near\`, ${defaultRadius} by default; not without it.`, {
      minimum: 100,
      maximum: 50_000,
    }),
  ),
};

/** Filters of both lists, and their pages. */
export const SearchQuery = {
  category_id: Type.Optional(Id('Only stores of this category, or their posts')),
  region: OptionalLine(`Only stores of this region, or their posts. ${regionMatch} Empty for all.`, 40),
  ...NearFields,
  ...PageQuery,
};

export const StoreQuery = Type.Object({
  q: OptionalLine(
    `Only stores whose name, address or description contains this text. ${textMatch} Empty for all stores.`,
    100,
  ),
  ...SearchQuery,
});

/** A field of the items of lists that take {@link NearFields}. */
export const Distance = OrNull(
  Int32(
    'Metres from `near` to the location of the store; to the rounded one, unless the store shows its exact location. `null` without `near`.',
  ),
);

/** Reads {@link NearFields} of a query or a body. @throws {ApiError} `validation_error` for a radius without a place */
export function readNear({ near, radius_m }: { near?: string; radius_m?: number }): Near | undefined {
  if (near !== undefined) {
    const [latitude = 0, longitude = 0] = near.split(',').map(Number);
    return { latitude, longitude, radius: radius_m ?? defaultRadius };
  }
  if (radius_m === undefined) return undefined;
  const text = { ko: 'near와 함께만 쓸 수 있습니다.', en: 'Must not be given without near.' };
  throw invalidFields([{ field: 'radius_m', code: 'not_allowed', text }]);
}
