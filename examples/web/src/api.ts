import { createClient, isApiError } from '@dure/client';
import { QueryCache, QueryClient } from '@tanstack/react-query';
import { currentLanguage } from './text.ts';

/** Where the service is: `VITE_API_URL` of the build, else the default of `npm start`. */
export const apiUrl: string = import.meta.env['VITE_API_URL'] ?? 'http://localhost:3000';

/** The client of the whole app. Its refresh token is in a cookie, which no script can read and all tabs share. */
export const dure = createClient({ baseUrl: apiUrl, tokens: 'cookie', language: currentLanguage() });

/** Lists and objects are kept for a while, so that Back shows at once what was there. Changes read again in any case. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: 30_000 } },
  queryCache: new QueryCache({
    onError(error) {
      // What was deleted leaves the lists that had it, once they are shown again.
      if (!isApiError(error) || error.status !== 404) return;
      void queryClient.invalidateQueries({ queryKey: ['dure'], refetchType: 'none' });
    },
  }),
});

/** With its `ETag`, for `If-Match`. */
export type Tagged<Data> = Data & { etag: string | undefined };
