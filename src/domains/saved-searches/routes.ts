import { Type } from '@sinclair/typebox';
import { currentUser } from '../../http/authentication.ts';
import { ApiError } from '../../http/errors.ts';
import { PageQuery, paginate } from '../../http/pagination.ts';
import { operation, type Routes } from '../../http/route-config.ts';
import { EmptyData, isId, PathId, Ref } from '../../http/schemas.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import * as savedSearches from './repository.ts';
import { NewSavedSearch, SavedSearch, SavedSearchPage, savedSearchErrors, toSavedSearch } from './schemas.ts';
import type { SavedSearchService } from './service.ts';

type Options = { database: Database; service: SavedSearchService };

/** Searches for posts that the logged-in user has saved. */
export const savedSearchRoutes: Routes<Options> = async (app, options) => {
  const { database, service } = options;

  app.post('/', {
    config: {
      ...operation('user', '검색 조건을 저장했습니다.', 'Your search has been saved.'),
      errors: [savedSearchErrors.tooManySavedSearches],
    },
    schema: {
      operationId: 'createSavedSearch',
      summary: 'Save a search',
      description:
        'From then on the user gets a notification of the kind `saved_search_match`, within a minute, of each new open post of another store that matches every given filter as in `listPosts`: one for a post, however many searches match. A user can save 20 searches and needs no store.',
      body: Ref(NewSavedSearch),
      response: { 201: Ref(SavedSearch) },
    },
    handler: async (request) => service.create(currentUser(request).id, request.body),
  });

  app.get('/', {
    config: operation('user', '저장한 검색을 조회했습니다.', 'Here are your saved searches.'),
    schema: {
      operationId: 'listSavedSearches',
      summary: 'Saved searches',
      description: 'Those of the user, newest first.',
      querystring: Type.Object(PageQuery),
      response: { 200: Ref(SavedSearchPage) },
    },
    handler: async (request) => {
      const find = savedSearches.list.bind(null, database, currentUser(request).id);
      return paginate(request.query, { isId, find, present: toSavedSearch });
    },
  });

  app.delete('/:saved_search_id/', {
    config: {
      ...operation('user', '저장한 검색을 삭제했습니다.', 'The saved search has been deleted.'),
      errors: [savedSearchErrors.savedSearchNotFound],
    },
    schema: {
      operationId: 'deleteSavedSearch',
      summary: 'Delete a saved search',
      description: 'Its notifications stay.',
      params: Type.Object({ saved_search_id: PathId('`id` of a saved search') }),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => {
      const { id: userId } = currentUser(request);
      const isRemoved = await savedSearches.remove(database, userId, request.params.saved_search_id);
      if (!isRemoved) throw new ApiError(savedSearchErrors.savedSearchNotFound);
      return {};
    },
  });
};
