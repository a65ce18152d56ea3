import type { TestApp } from '../support/app.ts';
import { notificationsOf, openTwoShops, sendRequest } from '../support/partner-requests.ts';
import { createPost, type Shop } from '../support/stores.ts';

type Caller = Pick<Shop, 'token'>;

/** Changes preferences of a user. @throws when they are rejected */
export async function setPreferences({ call }: TestApp, { token }: Caller, body: object): Promise<void> {
  const { status, text } = await call('PATCH', '/api/v1/notifications/preferences/', { token, body });
  if (status !== 200) throw new Error(text);
}

export function notificationsIn(app: TestApp) {
  const idsOf = async (shop: Caller, query = ''): Promise<number[]> =>
    (await notificationsOf(app, shop, query)).items.map(({ id }: { id: number }) => id);

  const markRead = (shop: Caller, body: unknown) =>
    app.call('POST', '/api/v1/notifications/mark-read/', { token: shop.token, body });

  /** A shop whose owner has so many notifications, with their ids, newest first. */
  async function notified(count: number) {
    const shops = await openTwoShops(app);
    for (let index = 0; index < count; index++) {
      const post = await createPost(app, shops.receiver.token, { title: `글 ${index}` });
      await sendRequest(app, shops.sender, post);
    }
    return { ...shops, ids: await idsOf(shops.receiver, '?limit=100') };
  }

  return { idsOf, markRead, notified };
}
