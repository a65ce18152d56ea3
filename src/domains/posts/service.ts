import type { Precondition } from '../../http/conditions.ts';
import { ApiError, found, httpErrors, invalidFields, retryLater } from '../../http/errors.ts';
import type { Problem } from '../../http/field-errors.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import { secondsUntilNext } from '../../infrastructure/database/daily-quota.ts';
import type { Created, Idempotency, IdempotencyKey } from '../../infrastructure/database/idempotency.ts';
import { koreanOffset } from '../../infrastructure/times.ts';
import type { ImageUrls, PostImages } from '../images/index.ts';
import { openStoreOf } from '../stores/index.ts';
import * as posts from './repository.ts';
import { type NewPost, type Post, type PostChanges, postErrors, toPost } from './schemas.ts';

export interface PostServiceOptions {
  config: Pick<Config, 'production' | 'quotas'>;
  database: Database;
  idempotency: Idempotency;
  imageUrls: ImageUrls;
  postImages: PostImages;
  savedSearches: { queueMatching(tx: Tx, postId: number): Promise<void> };
  partnerRequests: { withdrawRequestsOfPost(tx: Tx, postId: number): Promise<void> };
}

/** What a stored response shows of a deleted post, beside its title; the thumbnail must be a URL. */
const erased = { content: '', images: [], thumbnail: 'about:blank' };

/** Writing, changing and deleting posts. */
export function createPostService(options: PostServiceOptions) {
  const { config, database, idempotency, imageUrls, postImages, savedSearches, partnerRequests } = options;
  const { postsPerDay: quota, editsPerDay } = config.quotas;

  async function create(userId: number, input: NewPost, key?: IdempotencyKey): Promise<Created<Post>> {
    checkNotOver(input.closes_on);
    const stored = readImages(input.images ?? [], imageUrls, config);
    return idempotency.run(key, async (tx) => {
      // Before the post is written: after a rollback its entries would stay in the indexes.
      checkUsable(stored, await postImages.findOwn(tx, userId, stored.keys));
      const post = await posts.create(tx, { ...input, images: stored.images, userId, quota });
      if (post === undefined) {
        const seconds = await secondsUntilNext(tx, 'post', openStoreOf(userId));
        throw seconds > 0
          ? retryLater(httpErrors.quotaExceeded, seconds)
          : new ApiError(postErrors.storeRequired);
      }
      checkUsable(stored, await postImages.link(tx, { postId: post.id, userId, keys: stored.keys }));
      await savedSearches.queueMatching(tx, post.id);
      return toPost(post, imageUrls);
    });
  }

  async function change(
    own: posts.OwnPost,
    changes: PostChanges,
    precondition?: Precondition,
  ): Promise<Post> {
    const { id, userId } = own;
    const stored = changes.images && readImages(changes.images, imageUrls, config);
    const changed = stored === undefined ? changes : { ...changes, images: stored.images };
    return database.transaction(async (tx) => {
      if (stored) checkUsable(stored, await postImages.findOwn(tx, userId, stored.keys));
      const version = precondition && (await findOwn(tx, own, precondition)).updated_at;
      // Before the links: its row lock lets one change of its images follow the other.
      const post = await posts.change(tx, { ...own, version, quota: editsPerDay, ...changed });
      if (post === undefined) throw await changeError(tx, own, precondition);
      if (stored) checkUsable(stored, await postImages.link(tx, { postId: id, userId, keys: stored.keys }));
      return toPost(post, imageUrls);
    });
  }

  async function remove(own: posts.OwnPost, precondition?: Precondition): Promise<void> {
    const { id, userId } = own;
    await database.transaction(async (tx) => {
      const version = precondition && (await findOwn(tx, own, precondition)).updated_at;
      // The post comes first: its row lock waits for requests that are being sent, and later ones find it deleted.
      if (!(await posts.remove(tx, { ...own, version }))) throw await changeError(tx, own, precondition);
      await idempotency.eraseFromResponses(tx, { userId, operationId: 'createPost', id }, erased);
      await partnerRequests.withdrawRequestsOfPost(tx, id);
    });
  }

  async function findOwn(tx: Tx, own: posts.OwnPost, precondition?: Precondition): Promise<Post> {
    const row = found(await posts.find(tx, own), postErrors.postNotFound);
    if (!row.is_mine) throw new ApiError(postErrors.notYourPost);
    const post = toPost(row, imageUrls);
    precondition?.(post);
    return post;
  }

  async function changeError(tx: Tx, own: posts.OwnPost, precondition?: Precondition): Promise<ApiError> {
    await findOwn(tx, own, precondition);
    return retryLater(httpErrors.quotaExceeded, await secondsUntilNext(tx, 'edit', openStoreOf(own.userId)));
  }

  return { create, change, remove };
}

/** @throws {ApiError} `validation_error` for a last day that is over */
export function checkNotOver(closesOn: string | null | undefined, now = Date.now()): void {
  const today = new Date(now + koreanOffset).toISOString().slice(0, 10);
  if (closesOn == null || closesOn >= today) return;
  const text = {
    ko: '오늘(한국 시간)이나 그 뒤의 날짜여야 합니다.',
    en: 'Must be today, in Korea, or later.',
  };
  throw invalidFields([{ field: 'closes_on', code: 'too_small', text }]);
}

const invalidFormat = (ko: string, en: string): Problem => ({ code: 'invalid_format', text: { ko, en } });
const notUrl = invalidFormat(
  '공백이나 특수 문자가 없는 전체 이미지 주소여야 합니다. 예: https://cdn.example.com/1.jpg',
  'Must be an absolute URL without spaces or unescaped characters, such as https://cdn.example.com/1.jpg.',
);
const notHttps = invalidFormat(
  '이미지 주소는 https://로 시작해야 합니다.',
  'Must be an absolute URL that starts with https://.',
);
const withCredentials = invalidFormat(
  '이미지 주소에 아이디나 비밀번호를 넣을 수 없습니다.',
  'Must not contain a user name or password.',
);
const notUploaded: Problem = {
  code: 'not_found',
  text: {
    ko: '직접 올린 사진의 주소(url)가 아니거나 삭제된 사진입니다.',
    en: 'Must be the url of an image that you uploaded and did not delete.',
  },
};

/** Characters that must be escaped in a URL (RFC 3987, section 2.2), and percent signs that escape nothing. */
const forbidden = /[\s"<>\\^`{|}]|%(?![0-9a-f]{2})/i;

type StoredImages = { images: string[]; keys: string[] };

/** Replaces the URLs of uploaded images by their keys. @throws {ApiError} `validation_error` that names each rejected image */
function readImages(urls: readonly string[], imageUrls: ImageUrls, config: Pick<Config, 'production'>) {
  reject(urls, (url) => problemOf(url, config));
  const images = urls.map((url) => imageUrls.keyOf(url) ?? url);
  reject(images, (image) => (!imageUrls.isKey(image) && imageUrls.isOwn(image) ? notUploaded : undefined));
  return { images, keys: images.filter(imageUrls.isKey) };
}

function problemOf(url: string, { production }: Pick<Config, 'production'>): Problem | undefined {
  const [, scheme, authority] = /^(https?):\/\/([^/?#]+)/i.exec(url) ?? [];
  if (scheme === undefined || authority === undefined) return notHttps;
  if (production && scheme.toLowerCase() === 'http') return notHttps;
  // The URL parser drops an empty user name.
  if (authority.includes('@')) return withCredentials;
  return forbidden.test(url) || !URL.canParse(url) ? notUrl : undefined;
}

/** @throws {ApiError} `validation_error` that names the uploaded images of a post that are not among the usable ones */
function checkUsable({ images, keys }: StoredImages, usable: readonly string[]): void {
  reject(images, (image) => (keys.includes(image) && !usable.includes(image) ? notUploaded : undefined));
}

function reject(images: readonly string[], check: (image: string) => Problem | undefined): void {
  const errors = images.flatMap((image, index) => {
    const problem = check(image);
    return problem ? [{ field: `/images/${index}`, ...problem }] : [];
  });
  if (errors.length > 0) throw invalidFields(errors);
}
