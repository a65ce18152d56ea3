import type { Item, Output } from './types.ts';

/* The objects of the API, under the names that they have in openapi.yaml. */

export type User = Output<'getCurrentUser'>;
export type Session = Item<'listSessions'>;
export type Passkey = Item<'listPasskeys'>;
export type Identity = Item<'listIdentities'>;
export type Store = Output<'getOwnStore'>;
export type StoreSummary = Post['store'];
export type StoreListItem = Item<'listStores'>;
export type StoreCategory = Item<'listStoreCategories'>;
export type Post = Output<'getPost'>;
export type PostListItem = Item<'listPosts'>;
export type SavedSearch = Item<'listSavedSearches'>;
export type PartnerRequest = Item<'listPartnerRequests'>;
export type PartnerRequestDetail = Output<'getPartnerRequest'>;
export type Partner = Item<'listPartners'>;
export type Contact = Partner['contact'];
export type MyPage = Output<'getMyPage'>;
export type Image = Output<'uploadImage'>;
