import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { currentUser } from '../http/authentication.ts';
import { ApiError, httpErrors } from '../http/errors.ts';
import { type Idempotency, IdempotencyHeaders } from '../http/idempotency.ts';
import { Page, readCursor, toPage } from '../http/pagination.ts';
import { isId, PathId } from '../http/path-ids.ts';
import { Nothing, Reference } from '../http/schemas.ts';
import { postErrors } from './errors.ts';
import type { PostLists } from './repository/post-lists.ts';
import type { Posts } from './repository/posts.ts';
import { toPost } from './repository/row.ts';
import { NewPost, Post, PostChanges, PostQuery } from './schemas.ts';
import type { PostService } from './service.ts';

interface Options {
  posts: Posts;
  postLists: PostLists;
  service: PostService;
  idempotency: Idempotency;
  /** @throws {ApiError} `validation_error` for a category that does not exist */
  checkCategoryFilter(id: number | undefined): Promise<void>;
}

/** Writing, finding, changing and deleting posts. */
export const postRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { posts, postLists, service, idempotency, checkCategoryFilter },
) => {
  const params = Type.Object({ post_id: PathId('`id` of a post') });

  app.post(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: {
        message: { ko: '글을 등록했습니다.', en: 'Your post has been published.' },
        errors: [postErrors.storeRequired, httpErrors.idempotencyConflict],
      },
      schema: {
        operationId: 'createPost',
        summary: 'Write a post',
        description:
          "Publishes what partnership the user's store looks for. Images that are refused are named by their JSON pointer, as `/images/1`.",
        tags: ['posts'],
        headers: IdempotencyHeaders,
        body: Reference(NewPost),
        response: { 201: Reference(Post) },
      },
    },
    async (request, reply) => {
      const user = currentUser(request);
      const post = await idempotency(request, user, (transaction) =>
        service.write(transaction, user.id, request.body),
      );
      return reply.code(201).send(post);
    },
  );

  app.get(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: {
        message: { ko: '글 목록을 조회했습니다.', en: 'Here are the posts.' },
        errors: [httpErrors.invalidCursor],
      },
      schema: {
        operationId: 'listPosts',
        summary: 'Find posts',
        description: 'Posts, newest first; those that meet every filter that is given.',
        tags: ['posts'],
        querystring: PostQuery,
        response: { 200: Page(Reference(Post)) },
      },
    },
    async (request) => {
      const { mine, store_id: storeId, category_id: categoryId, q = '', limit, cursor } = request.query;
      const ownerId = mine ? currentUser(request).id : undefined;
      const after = readCursor(cursor, isId);
      const rows = await postLists.list({ ownerId, storeId, categoryId, q, after, limit: limit + 1 });
      if (rows.length === 0) await checkCategoryFilter(categoryId);
      return toPage(
        rows,
        limit,
        ({ created_at, id }) => ({ time: created_at.getTime(), id: String(id) }),
        toPost,
      );
    },
  );

  app.get(
    '/:post_id/',
    {
      config: {
        message: { ko: '글을 조회했습니다.', en: 'Here is the post.' },
        errors: [postErrors.postNotFound],
      },
      schema: {
        operationId: 'getPost',
        summary: 'Read a post',
        description: 'Any post of an open store.',
        tags: ['posts'],
        params,
        response: { 200: Reference(Post) },
      },
    },
    async (request) => {
      const post = await posts.findById(request.params.post_id);
      if (post === undefined) throw new ApiError(postErrors.postNotFound);
      return post;
    },
  );

  app.patch(
    '/:post_id/',
    {
      config: {
        message: { ko: '글을 수정했습니다.', en: 'Your post has been changed.' },
        errors: [postErrors.notYourPost, postErrors.postNotFound],
      },
      schema: {
        operationId: 'updatePost',
        summary: 'Change a post',
        description: 'Changes the given fields of a post of the user. `images` replaces all images.',
        tags: ['posts'],
        params,
        body: Reference(PostChanges),
        response: { 200: Reference(Post) },
      },
    },
    async (request) => service.change(currentUser(request).id, request.params.post_id, request.body),
  );

  app.delete(
    '/:post_id/',
    {
      config: {
        message: { ko: '글을 삭제했습니다.', en: 'Your post has been deleted.' },
        errors: [postErrors.notYourPost, postErrors.postNotFound],
      },
      schema: {
        operationId: 'deletePost',
        summary: 'Delete a post',
        description:
          'Deletes a post of the user. Partnership requests for it that wait for an answer are withdrawn; answered ones stay.',
        tags: ['posts'],
        params,
        response: { 200: Reference(Nothing) },
      },
    },
    async (request) => {
      await service.remove(currentUser(request).id, request.params.post_id);
      return {};
    },
  );
};
