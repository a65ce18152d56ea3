import { browserStorage, type Client, createClient } from '@dure/client';
import { preferredLanguage } from './texts/preferred-language.ts';

/** Where the service is: `VITE_API_URL` of the build, else the default of `npm start`. */
export const apiUrl: string = import.meta.env['VITE_API_URL'] ?? 'http://localhost:3000';

const signedOutListeners = new Set<() => void>();

/** The client of the whole app. Its tokens are in `localStorage`, so that all tabs are signed in together. */
export const dure = createClient({
  baseUrl: apiUrl,
  storage: browserStorage(),
  language: preferredLanguage(),
  onSignedOut: () => {
    for (const listener of signedOutListeners) listener();
  },
});

/** Calls `listener` when the session has ended elsewhere. @returns stops that */
export function onSignedOut(listener: () => void): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

type Result<Operation extends keyof Client> = Client[Operation] extends (...args: never[]) => Promise<infer Data>
  ? Data
  : never;
type Item<Operation extends keyof Client> =
  Result<Operation> extends { items: (infer One)[] } ? One : never;

export type User = Result<'getCurrentUser'>;
export type Store = Result<'getOwnStore'>;
export type Post = Result<'getPost'>;
export type StoreSummary = Post['store'];
export type PostSummary = Pick<Post, 'id' | 'title' | 'thumbnail' | 'created_at'>;
export type StoreCategory = Item<'listStoreCategories'>;
export type Notification = Item<'listNotifications'>;
export type Session = Item<'listSessions'>;
export type SentRequest = Result<'withdrawPartnerRequest'>;
export type ReceivedRequest = Result<'acceptPartnerRequest'>;
export type PartnerRequestStatus = SentRequest['status'];
