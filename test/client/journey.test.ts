import createClient, { type Middleware } from 'openapi-fetch';
import t from 'tap';
import type { components, paths } from '../../packages/client/src/generated/api.ts';
import { codeIn, createTestApp, password } from '../support/app.ts';

type Status = components['schemas']['PartnerRequest']['status'];

t.test('two shops find each other through a client that was generated from openapi.yaml', async (t) => {
  const service = await createTestApp();
  t.teardown(service.close);
  const baseUrl = await service.app.listen({ port: 0, host: '127.0.0.1' });

  async function openShop(username: string, storeName: string) {
    const client = createClient<paths>({ baseUrl });
    const email = `${username}@example.com`;
    const signup = await client.POST('/auth/signup/', {
      body: { username, password, name: '김두레', email },
    });
    t.equal(signup.data?.data.is_verified, false);
    const code = codeIn(await service.mails.next(email));
    const confirmed = await client.POST('/auth/email-verify/confirm/', { body: { email, code } });
    t.equal(confirmed.data?.data.email, email);
    const login = await client.POST('/auth/login/', { body: { username, password } });
    t.equal(login.data?.data.user.is_verified, true);
    const { access = '' } = login.data?.data ?? {};
    const bearer: Middleware = {
      onRequest: ({ request }) => request.headers.set('authorization', `Bearer ${access}`),
    };
    client.use(bearer);
    const categories = await client.GET('/api/v1/stores/categories/');
    const cafe = categories.data?.data.items.find(({ name }) => name === '카페');
    const store = await client.POST('/api/v1/stores/', {
      body: { name: storeName, category_ids: [cafe?.id ?? 0] },
    });
    t.same(store.data?.data.store_categories, [cafe]);
    return client;
  }

  const [receiver, sender] = [
    await openShop('dure_cafe', '두레 카페'),
    await openShop('golmok_flower', '골목 꽃집'),
  ];

  const post = await receiver.POST('/api/v1/posts/', {
    body: { title: '꽃집을 찾아요', content: '함께 팔아요.', images: ['https://img.example.com/1.jpg'] },
  });
  const postId = post.data?.data.id ?? 0;
  t.equal(post.data?.data.thumbnail, 'https://img.example.com/1.jpg');

  const own = await receiver.POST('/api/v1/notifications/partner-request/', {
    body: { post_id: postId, message: '저요' },
  });
  t.equal(own.error?.data.code, 'own_post');

  const request = await sender.POST('/api/v1/notifications/partner-request/', {
    body: { post_id: postId, message: '같이 해요' },
  });
  t.equal(request.data?.data.status, '요청됨' satisfies Status);

  const received = await receiver.GET('/api/v1/notifications/mypage/');
  t.equal(received.data?.data.unread_count, 1);
  t.match(received.data?.data.items, [{ kind: 'partner_request_received', is_read: false }]);

  const id = request.data?.data.id ?? 0;
  const path = '/api/v1/notifications/partner-request/{id}/accept/';
  const accepted = await receiver.POST(path, { params: { path: { id } } });
  t.equal(accepted.data?.data.status, '수락됨' satisfies Status);

  const myPage = await sender.GET('/api/v1/stores/mypage/');
  t.equal(myPage.data?.data.store?.name, '골목 꽃집');
  t.match(myPage.data?.data.sent_requests, [{ id, receiver_store_name: '두레 카페', status: '수락됨' }]);
});
