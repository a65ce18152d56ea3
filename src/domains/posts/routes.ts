import { Type } from '@sinclair/typebox';
import { currentUser } from '../../http/authentication.ts';
import * as conditions from '../../http/conditions.ts';
import { found, httpErrors } from '../../http/errors.ts';
import { paginate } from '../../http/pagination.ts';
import { operation, type Routes } from '../../http/route-config.ts';
import { BigPathId, EmptyData, emptyData, isBigId, Ref } from '../../http/schemas.ts';
import type { Read } from '../../infrastructure/database/replica.ts';
import { checkCategoryFilter, readNear } from '../stores/index.ts';
import * as posts from './repository.ts';
import * as schemas from './schemas.ts';
import { createPostService, type PostServiceOptions } from './service.ts';

const { postErrors } = schemas;

export type PostRoutesOptions = PostServiceOptions & { read: Read };

/** Writing, finding, changing and deleting posts. */
export const postRoutes: Routes<PostRoutesOptions> = async (app, options) => {
  const { database, imageUrls, read } = options;
  const service = createPostService(options);
  // Room for 5,000 characters, each an escaped pair of surrogates (12 bytes), and ten URLs of ASCII.
  const bodyLimit = 128 * 1024;
  const params = Type.Object({ post_id: BigPathId('`id` of a post') });

  app.post('/', {
    bodyLimit,
    config: {
      ...operation('user', '글을 등록했습니다.', 'Your post has been published.'),
      errors: [postErrors.storeRequired, httpErrors.quotaExceeded],
      idempotent: true,
      location: true,
    },
    schema: {
      operationId: 'createPost',
      summary: 'Write a post',
      description:
        "Publishes what kind of partnership the user's store is looking for. Rejected images are named by their JSON pointer, such as `/images/1`; one that is not an uploaded image of the user, although its URL looks like one, has the code `not_found`. A store can write 30 posts in the 24 hours from the first, deleted ones included; an installation may have another number. It takes partnership requests until the end of the day `closes_on` in Korea, which must not be over.",
      body: Ref(schemas.NewPost),
      response: { 201: Ref(schemas.Post) },
    },
    handler: async (request, reply) =>
      conditions.sendCreated(reply, (key) => service.create(currentUser(request).id, request.body, key)),
  });

  app.get('/', {
    config: operation('user', '글 목록을 조회했습니다.', 'Here are the posts.'),
    schema: {
      operationId: 'listPosts',
      summary: 'Find posts',
      description:
        'Posts that match every given filter, newest first; with `near`, those of the nearest stores first. A page may have fewer items than `limit`, or none, before the end of the list, because a request examines a bounded number of posts: continue until `next_cursor` is `null`. With `near`, the list has the newest 100 posts of each store and ends after the 5,000 nearest stores, unless `q`, `category_id` or `region` match few: all of those are found.',
      querystring: schemas.PostQuery,
      response: { 200: Ref(schemas.PostPage) },
    },
    handler: async (request) => {
      const { mine, store_id: storeId, category_id: categoryId, region = '', q = '' } = request.query;
      const status = request.query.status ?? (mine ? 'all' : 'open');
      const near = readNear(request.query);
      const { id: userId } = currentUser(request);
      const ownerId = mine ? userId : undefined;
      const result = await paginate(request.query, {
        isId: isBigId,
        find: (page) =>
          read(userId, (tx) =>
            posts.list(tx, { userId, ownerId, storeId, categoryId, region, near, status, q, ...page }),
          ),
        present: (post) => schemas.toPostListItem(post, imageUrls),
        step: 20,
      });
      if (result.items.length === 0) await checkCategoryFilter(database, categoryId);
      return result;
    },
  });

  app.get('/:post_id/', {
    config: {
      ...operation('user', '글을 조회했습니다.', 'Here is the post.'),
      errors: [postErrors.postNotFound],
    },
    schema: {
      operationId: 'getPost',
      summary: 'Read a post',
      description: 'Any post that was neither deleted nor hidden, of a store that can be found.',
      params,
      headers: conditions.ReadConditions,
      response: { 200: Ref(schemas.Post), 304: conditions.NotModified },
    },
    handler: async (request, reply) => {
      const { id: userId } = currentUser(request);
      const post = await read(userId, (tx) => posts.find(tx, { id: request.params.post_id, userId }));
      return conditions.sendIfChanged(reply, schemas.toPost(found(post, postErrors.postNotFound), imageUrls));
    },
  });

  app.patch('/:post_id/', {
    bodyLimit,
    config: {
      ...operation('user', '글을 수정했습니다.', 'Your post has been updated.'),
      errors: [postErrors.notYourPost, postErrors.postNotFound, httpErrors.quotaExceeded],
    },
    schema: {
      operationId: 'updatePost',
      summary: 'Change a post',
      description:
        'Changes the given fields of a post of the user. `images` replaces all images; an empty list removes them. `status` closes and opens the post; a `closes_on` that is over closes it at once. A closed post stays closed until `status` is `open`, which removes a `closes_on` that is over. A store can change its posts and itself 60 times in the 24 hours from the first change; an installation may have another number.',
      params,
      headers: conditions.WriteConditions,
      body: Ref(schemas.PostChanges),
      response: { 200: Ref(schemas.Post) },
    },
    handler: async (request, reply) => {
      const own = { id: request.params.post_id, userId: currentUser(request).id };
      return conditions.sendTagged(
        reply,
        await service.change(own, request.body, conditions.preconditionOf(request)),
      );
    },
  });

  app.delete('/:post_id/', {
    config: {
      ...operation('user', '글을 삭제했습니다.', 'Your post has been deleted.'),
      errors: [postErrors.notYourPost, postErrors.postNotFound],
    },
    schema: {
      operationId: 'deletePost',
      summary: 'Delete a post',
      description:
        'Deletes a post of the user. Pending partnership requests for it are withdrawn; answered ones stay. Its content is erased from the answer that is kept for its `Idempotency-Key`, too.',
      params,
      headers: conditions.WriteConditions,
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => {
      const own = { id: request.params.post_id, userId: currentUser(request).id };
      return emptyData(service.remove(own, conditions.preconditionOf(request)));
    },
  });
};
