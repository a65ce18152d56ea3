import { isApiError } from '@dure/client';
import t from 'tap';

t.test('an app that loads the client as ESM and as CommonJS knows the errors of both', async (t) => {
  const url = new URL('errors.js?second', import.meta.resolve('@dure/client')).href;
  const { ApiError }: Pick<typeof import('@dure/client'), 'ApiError'> = await import(url);
  const data = { detail: '', code: 'not_found' as const };
  const error = new ApiError('getPost', {
    ...data,
    status: 404,
    data,
    fields: {},
    errors: [],
    requestId: undefined,
    retryAfter: undefined,
  });
  t.ok(isApiError(error));
  t.ok(isApiError(error, 'getPost'));
  t.notOk(isApiError(error, 'listPosts'));
  t.notOk(isApiError(new Error('another')));
  t.notOk(isApiError({ name: 'ApiError' }));
});
