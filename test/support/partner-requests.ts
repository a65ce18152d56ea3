import { type Fields, type TestApp, verifyEmails } from './app.ts';
import type { Json } from './json.ts';
import { createPost, openShop, type TestPost } from './stores.ts';

/** The collection of partner requests. */
export const requestsPath = '/api/v1/notifications/partner-request/';

type Caller = { token: string | undefined };
type AnyPost = Pick<TestPost, 'id'>;

/** Two shops, and a post of the receiver. @param fields of the receiver's store */
export async function openTwoShops(app: TestApp, fields: Fields = {}) {
  const sender = await openShop(app, '두레 베이커리', { category_ids: [3, 1] });
  const receiver = await openShop(app, '햇살카페', fields);
  const post = await createPost(app, receiver.token, { title: '주말 공동 할인' });
  return { sender, receiver, post };
}

/** Like {@link openTwoShops}, with verified addresses, to which emails about requests go. */
export async function openTwoVerifiedShops(app: TestApp) {
  const shops = await openTwoShops(app);
  await verifyEmails(app, shops.sender, shops.receiver);
  return shops;
}

/** Requests a partnership for a post. */
export function requestPartnership(app: TestApp, { token }: Caller, { id }: AnyPost, headers = {}) {
  return app.call('POST', requestsPath, { token, body: { post_id: id, message: '함께 해요!' }, headers });
}

/** Sends a request for a post. @returns its id @throws when it is rejected */
export async function sendRequest(app: TestApp, shop: Caller, post: AnyPost): Promise<number> {
  const response = await requestPartnership(app, shop, post);
  if (response.status !== 201) throw new Error(`the request was rejected: ${response.text}`);
  return response.body.data.id;
}

type Action = 'accept' | 'decline' | 'withdraw' | 'end';

/** Moves a request to another state. */
export function transition(app: TestApp, { token }: Caller, id: number, action: Action) {
  return app.call('POST', `${requestsPath}${id}/${action}/`, { token });
}

/** Sends a request for a post, which its receiver accepts. @returns its id */
export async function becomePartners(
  app: TestApp,
  { sender, receiver, post }: { sender: Caller; receiver: Caller; post: AnyPost },
): Promise<number> {
  const id = await sendRequest(app, sender, post);
  const response = await transition(app, receiver, id, 'accept');
  if (response.status !== 200) throw new Error(`the request was not accepted: ${response.text}`);
  return id;
}

/** Reads a request with all that a user sees of it. */
export function readRequest(app: TestApp, { token }: Caller, id: number) {
  return app.call('GET', `${requestsPath}${id}/`, { token });
}

/** A page of a user's partners. */
export function listPartners(app: TestApp, { token }: Caller, query = '') {
  return app.call('GET', `/api/v1/stores/partners/${query}`, { token });
}

/** A page of the notifications of a shop's owner. */
export async function notificationsOf(app: TestApp, { token }: Caller, query = '', headers = {}) {
  const response = await app.call('GET', `/api/v1/notifications/mypage/${query}`, { token, headers });
  if (response.status !== 200) throw new Error(`no notifications: ${response.text}`);
  return response.body.data;
}

/** The notifications of a shop's owner, newest first: kind, request id, and the current status of the request. */
export async function notifiedOf(app: TestApp, shop: Caller): Promise<[string, number, string][]> {
  const { items } = await notificationsOf(app, shop, '?limit=100');
  return items.map(({ kind, partner_request: { id, status } }: Json) => [
    kind.replace('partner_request_', ''),
    id,
    status,
  ]);
}

/** Pending requests whose post or one of whose stores is gone, and accepted ones of a store that is gone; there must never be one. */
export async function strandedRequests({ pool }: TestApp): Promise<number[]> {
  const { rows } = await pool.query(`
    SELECT r.id FROM partner_requests r
    JOIN posts p ON p.id = r.post_id
    JOIN stores s ON s.id = r.sender_store_id
    JOIN stores v ON v.id = r.receiver_store_id
    WHERE r.status IN ('requested', 'accepted')
      AND (r.status = 'requested' AND p.deleted_at IS NOT NULL OR s.closed_at IS NOT NULL OR v.closed_at IS NOT NULL
        OR s.owner_id IS NULL OR v.owner_id IS NULL)`);
  return rows.map(({ id }) => id);
}
