import type { Config } from '../config/config.ts';
import type { Connection, Database } from '../database/client.ts';
import { ApiError } from '../http/errors.ts';
import type { Transaction } from '../http/idempotency.ts';
import { postErrors } from './errors.ts';
import { checkImages } from './images.ts';
import type { Posts } from './repository/posts.ts';
import type { NewPost, Post, PostChanges } from './schemas.ts';

/** What the services and routes of this domain work with; `index.ts` builds it. */
export interface PostServiceOptions {
  config: Pick<Config, 'production'>;
  database: Database;
  posts: Posts;
  /** Withdraws the pending requests for a post that was deleted in the same transaction. */
  withdrawRequestsOfPost(transaction: Connection, postId: number): Promise<void>;
}

export type PostService = ReturnType<typeof createPostService>;

/** Writing, changing and deleting posts. */
export function createPostService({ config, database, posts, withdrawRequestsOfPost }: PostServiceOptions) {
  /**
   * @param transaction runs the change; with an idempotency key it gives the first answer again
   * @throws {ApiError} `validation_error`, `store_required`
   */
  async function write(transaction: Transaction, userId: number, input: NewPost): Promise<Post> {
    checkImages(input.images, config);
    return transaction(async (tx) => {
      const post = await posts.create(tx, userId, input);
      if (post === undefined) throw new ApiError(postErrors.storeRequired);
      return post;
    });
  }

  /** @throws {ApiError} `validation_error`, `post_not_found`, `forbidden` */
  async function change(userId: number, id: number, changes: PostChanges): Promise<Post> {
    checkImages(changes.images ?? [], config);
    const post = await posts.change(database.client, { id, userId }, changes);
    if (post === undefined) throw await refusal(database.client, id);
    return post;
  }

  /**
   * Deletes a post, and withdraws what waits for an answer of it.
   *
   * @throws {ApiError} `post_not_found`, `forbidden`
   */
  async function remove(userId: number, id: number): Promise<void> {
    await database.transaction(async (tx) => {
      // The post first: who sends a request to it at this moment is waited for, or finds it deleted.
      if (!(await posts.remove(tx, { id, userId }))) throw await refusal(tx, id);
      await withdrawRequestsOfPost(tx, id);
    });
  }

  async function refusal(connection: Connection, id: number): Promise<ApiError> {
    return new ApiError(
      (await posts.exists(connection, id)) ? postErrors.notYourPost : postErrors.postNotFound,
    );
  }

  return { write, change, remove };
}
