import { createClient, type Input, type Item, type Output } from '@dure/client';
import { preferredLanguage } from './texts/preferred-language.ts';

/** Where the service is: `VITE_API_URL` of the build, else the default of `npm start`. */
export const apiUrl: string = import.meta.env['VITE_API_URL'] ?? 'http://localhost:3000';

/** The client of the whole app. Its refresh token is in a cookie, which no script can read and all tabs share. */
export const dure = createClient({ baseUrl: apiUrl, tokens: 'cookie', language: preferredLanguage() });

export type User = Output<'getCurrentUser'>;
export type Store = Output<'getOwnStore'>;
export type Post = Output<'getPost'>;
export type StoreSummary = Post['store'];
export type PostListItem = Item<'listPosts'>;
export type PostSummary = Pick<Post, 'id' | 'title' | 'thumbnail' | 'created_at'>;
export type Filters = Pick<Input<'listPosts'>, 'q' | 'category_id' | 'region' | 'near' | 'radius_m'>;
export type Consent = Item<'listConsents'>;
export type SavedSearch = Item<'listSavedSearches'>;
export type StoreCategory = Item<'listStoreCategories'>;
export type Notification = Item<'listNotifications'>;
export type Session = Item<'listSessions'>;
export type Identity = Item<'listIdentities'>;
export type Passkey = Item<'listPasskeys'>;
export type SecondFactor = Output<'getSecondFactor'>;
export type TotpSecret = Output<'startTotp'>;
export type StoreListItem = Item<'listStores'>;
export type Partner = Item<'listPartners'>;
export type Contact = Partner['contact'];
export type RequestDetail = Output<'getPartnerRequest'>;
export type Preferences = Output<'getMailPreferences'>;
export type SentRequest = Output<'withdrawPartnerRequest'>;
export type ReceivedRequest = Output<'acceptPartnerRequest'>;
export type PartnerRequestStatus = SentRequest['status'];
