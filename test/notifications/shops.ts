import { type Answer, createUser, type TestApp } from '../support/app.ts';
import { createPost, createStore, type TestPost, type TestStore } from '../support/stores.ts';

/** Where the operations on requests are. */
export const requestsPath = '/api/v1/notifications/partner-request/';

/** A user with a store. */
export interface Shop {
  id: number;
  username: string;
  email: string;
  password: string;
  token: string;
  store: TestStore;
}

/** Signs a user up, who registers a store. */
export async function openShop(
  app: TestApp,
  name: string,
  fields: Record<string, unknown> = {},
): Promise<Shop> {
  const user = await createUser(app);
  return { ...user, store: await createStore(app, user.token, { name, ...fields }) };
}

/** Two shops, and a post of the receiver. */
export async function openTwoShops(app: TestApp): Promise<{ sender: Shop; receiver: Shop; post: TestPost }> {
  const sender = await openShop(app, '두레 베이커리', { category_ids: [3, 1] });
  const receiver = await openShop(app, '햇살카페');
  const post = await createPost(app, receiver.token, { title: '주말 공동 할인' });
  return { sender, receiver, post };
}

/** Asks for the partnership that a post looks for. */
export function ask(
  app: TestApp,
  shop: Pick<Shop, 'token'>,
  post: Pick<TestPost, 'id'>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const body = { post_id: post.id, message: '함께 해요!' };
  return app.call('POST', requestsPath, { token: shop.token, body, headers });
}

/** Sends a request that must arrive. @returns its id */
export async function send(
  app: TestApp,
  shop: Pick<Shop, 'token'>,
  post: Pick<TestPost, 'id'>,
): Promise<number> {
  const answer = await ask(app, shop, post);
  if (answer.status !== 201) throw new Error(`the request was not sent: ${answer.text}`);
  return answer.body.data.id;
}

/** Answers or withdraws a request. */
export function act(
  app: TestApp,
  shop: Pick<Shop, 'token'>,
  id: number | string,
  action: 'accept' | 'decline' | 'withdraw',
): Promise<Answer> {
  return app.call('POST', `${requestsPath}${id}/${action}/`, { token: shop.token });
}

/** The newest notifications of a shop's owner. */
export async function notificationsOf(
  app: TestApp,
  shop: Pick<Shop, 'token'>,
  query = '',
  headers: Record<string, string> = {},
) {
  const path = `/api/v1/notifications/mypage/${query}`;
  const answer = await app.call('GET', path, { token: shop.token, headers });
  if (answer.status !== 200) throw new Error(`no notifications: ${answer.text}`);
  return answer.body.data;
}

/** What the owner of a shop was told, newest first: kind, request, and the request's present status. */
export async function toldTo(app: TestApp, shop: Pick<Shop, 'token'>): Promise<[string, number, string][]> {
  const { items } = await notificationsOf(app, shop, '?limit=100');
  return items.map(
    (item: { kind: string; partner_request: { id: number; status: string } }): [string, number, string] => [
      item.kind.replace('partner_request_', ''),
      item.partner_request.id,
      item.partner_request.status,
    ],
  );
}

/** How many of the answers have each status. */
export function statusesOf(answers: Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
