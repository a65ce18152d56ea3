import type { Precondition } from '../../http/entity-tags.ts';
import { ApiError, httpErrors, retryLater } from '../../http/errors.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import type { Created, Idempotency, IdempotencyKey } from '../../infrastructure/database/idempotency.ts';
import type { ImageUrls, PostImages } from '../images/index.ts';
import { secondsUntilEdits } from '../stores/index.ts';
import { checkNotOver } from './closing.ts';
import { postErrors } from './errors.ts';
import { checkUsable, readImages, type StoredImages } from './images.ts';
import { toPost } from './presenters.ts';
import type { OwnPost, Posts } from './repository.ts';
import type { NewPost, Post, PostChanges } from './schemas.ts';

export interface PostServiceOptions {
  config: Pick<Config, 'production' | 'quotas'>;
  database: Database;
  posts: Posts;
  idempotency: Idempotency;
  imageUrls: ImageUrls;
  postImages: PostImages;
  /** Has a worker find the saved searches that a new post matches. */
  queueMatching(tx: Tx, postId: number): Promise<void>;
  /** Withdraws the pending requests for a post that was deleted in the same transaction. */
  withdrawRequestsOfPost(tx: Tx, postId: number): Promise<void>;
}

/** What a stored response shows of a deleted post, beside its title; the thumbnail must be a URL. */
const erased = { content: '', images: [], thumbnail: 'about:blank' };

/** Writing, changing and deleting posts. */
export function createPostService(options: PostServiceOptions) {
  const { config, database, posts, idempotency, imageUrls, postImages, withdrawRequestsOfPost } = options;
  const { postsPerDay: quota, editsPerDay } = config.quotas;

  /** @throws {ApiError} `validation_error`, `store_required`, `quota_exceeded` */
  async function create(
    userId: number,
    input: NewPost,
    key: IdempotencyKey | undefined,
  ): Promise<Created<Post>> {
    checkNotOver(input.closes_on);
    const stored = readImages(input.images ?? [], imageUrls, config);
    return idempotency.run(key, async (tx) => {
      await checkOwn(tx, userId, stored);
      const post = await posts.create(tx, userId, { ...input, images: stored.images }, quota);
      if (post === undefined) throw await creationError(tx, userId);
      await link(tx, { postId: post.id, userId }, stored);
      await options.queueMatching(tx, post.id);
      return toPost(post, imageUrls);
    });
  }

  /** Checked before the post is written: after a rollback its entries would stay in the indexes. @throws {ApiError} `validation_error` */
  async function checkOwn(tx: Tx, userId: number, stored: StoredImages): Promise<void> {
    const { keys } = stored;
    if (keys.length > 0) checkUsable(stored, await postImages.findOwn(tx, userId, keys));
  }

  /** Links the uploaded images of a post to it. @throws {ApiError} `validation_error` */
  async function link(tx: Tx, post: { postId: number; userId: number }, stored: StoredImages): Promise<void> {
    const { keys } = stored;
    if (keys.length > 0) checkUsable(stored, await postImages.link(tx, { ...post, keys }));
  }

  async function creationError(tx: Tx, userId: number): Promise<ApiError> {
    const seconds = await posts.secondsUntilRoom(tx, userId, quota);
    return seconds === undefined
      ? new ApiError(postErrors.storeRequired)
      : retryLater(httpErrors.quotaExceeded, seconds);
  }

  /** @throws {ApiError} `validation_error`, `post_not_found`, `forbidden`, `precondition_failed`, `quota_exceeded` */
  async function change(own: OwnPost, changes: PostChanges, precondition?: Precondition): Promise<Post> {
    const { id, userId } = own;
    const stored = changes.images && readImages(changes.images, imageUrls, config);
    const changed = stored === undefined ? changes : { ...changes, images: stored.images };
    return database.transaction(async (tx) => {
      if (stored) await checkOwn(tx, userId, stored);
      const version = precondition && (await findOwn(tx, own, precondition)).updated_at;
      // Before the links: its row lock lets one change of its images follow the other.
      const post = await posts.change(tx, { ...own, version }, changed, editsPerDay);
      if (post === undefined) throw await changeError(tx, own, precondition);
      if (stored) await link(tx, { postId: id, userId }, stored);
      return toPost(post, imageUrls);
    });
  }

  /**
   * Deletes a post, erases it from stored responses, and withdraws its pending requests.
   *
   * @throws {ApiError} `post_not_found`, `forbidden`, `precondition_failed`
   */
  async function remove(own: OwnPost, precondition?: Precondition): Promise<void> {
    const { id, userId } = own;
    await database.transaction(async (tx) => {
      const version = precondition && (await findOwn(tx, own, precondition)).updated_at;
      // The post comes first: its row lock waits for requests that are being sent, and later ones find it deleted.
      if (!(await posts.remove(tx, { ...own, version }))) throw await changeError(tx, own, precondition);
      await idempotency.eraseFromResponses(tx, { userId, operationId: 'createPost', id }, erased);
      await withdrawRequestsOfPost(tx, id);
    });
  }

  /** @throws {ApiError} `post_not_found`, `forbidden`, `precondition_failed` */
  async function findOwn(tx: Tx, own: OwnPost, precondition?: Precondition): Promise<Post> {
    const found = await posts.find(own, tx);
    if (found === undefined) throw new ApiError(postErrors.postNotFound);
    if (!found.isMine) throw new ApiError(postErrors.notYourPost);
    const post = toPost(found, imageUrls);
    precondition?.(post);
    return post;
  }

  async function changeError(tx: Tx, own: OwnPost, precondition?: Precondition): Promise<ApiError> {
    await findOwn(tx, own, precondition);
    return retryLater(httpErrors.quotaExceeded, await secondsUntilEdits(tx, own.userId));
  }

  return { create, change, remove };
}
