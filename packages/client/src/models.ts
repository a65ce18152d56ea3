import type { Item, Output } from './types.ts';

/* The objects of the API, under the names that they have in openapi.yaml. */

/** The account that is signed in. */
export type User = Output<'getCurrentUser'>;
/** A login of the account, on this or on another device. */
export type Session = Item<'listSessions'>;
/** A passkey of the account. */
export type Passkey = Item<'listPasskeys'>;
/** A login with a provider that is connected with the account. */
export type Identity = Item<'listIdentities'>;
/** The own store. */
export type Store = Output<'getOwnStore'>;
/** The store of a post. */
export type StoreSummary = Post['store'];
/** A store in a list. */
export type StoreListItem = Item<'listStores'>;
/** What a store may be. */
export type StoreCategory = Item<'listStoreCategories'>;
/** A post, with everything. */
export type Post = Output<'getPost'>;
/** A post in a list. */
export type PostListItem = Item<'listPosts'>;
/** A search whose new posts are notifications. */
export type SavedSearch = Item<'listSavedSearches'>;
/** A partnership request in a list. */
export type PartnerRequest = Item<'listPartnerRequests'>;
/** A partnership request, with post, stores and contact. */
export type PartnerRequestDetail = Output<'getPartnerRequest'>;
/** A store with which there is a partnership. */
export type Partner = Item<'listPartners'>;
/** How to reach a partner. */
export type Contact = Partner['contact'];
/** The own store with its latest posts and requests. */
export type MyPage = Output<'getMyPage'>;
/** An image that was uploaded. */
export type Image = Output<'uploadImage'>;
