import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import {
  notificationsOf,
  notifiedOf,
  openTwoShops,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { openShop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const actions = ['accept', 'decline', 'withdraw'] as const;

t.test('the receiver accepts: the sender is notified', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const answer = await transition(app, receiver, id, 'accept');
  t.equal(answer.status, 200);
  t.equal(answer.body.message, '제휴 요청을 수락했습니다.');
  t.strictSame(answer.body.data, {
    id,
    post_id: post.id,
    post_title: '주말 공동 할인',
    sender_store: {
      id: sender.store.id,
      name: '두레 베이커리',
      store_categories: [
        { id: 3, name: '베이커리' },
        { id: 1, name: '카페' },
      ],
    },
    status: '수락됨',
    message: '함께 해요!',
    created_at: answer.body.data.created_at,
  });
  t.strictSame(await notifiedOf(app, sender), [['accepted', id, '수락됨']]);
  t.strictSame(
    await notifiedOf(app, receiver),
    [['received', id, '수락됨']],
    'shown with its present status',
  );
  const [notification] = (await notificationsOf(app, sender)).items;
  t.equal(notification.message, '햇살카페에서 ‘주말 공동 할인’ 글에 보낸 제휴 요청을 수락했습니다.');
});

t.test('the receiver declines: the sender is notified', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const answer = await transition(app, receiver, id, 'decline');
  t.equal(answer.status, 200);
  t.equal(answer.body.data.status, '거절됨');
  t.equal(answer.body.data.post_title, '주말 공동 할인');
  t.strictSame(await notifiedOf(app, sender), [['declined', id, '거절됨']]);
  const [notification] = (await notificationsOf(app, sender)).items;
  t.equal(notification.message, '햇살카페에서 ‘주말 공동 할인’ 글에 보낸 제휴 요청을 거절했습니다.');
});

t.test('the sender withdraws: the receiver is notified, without a mail', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const answer = await transition(app, sender, id, 'withdraw');
  t.equal(answer.status, 200);
  t.strictSame(answer.body.data, {
    id,
    post_id: post.id,
    receiver_store_name: '햇살카페',
    status: '취소됨',
    message: '함께 해요!',
    created_at: answer.body.data.created_at,
  });
  t.strictSame(await notifiedOf(app, receiver), [
    ['withdrawn', id, '취소됨'],
    ['received', id, '취소됨'],
  ]);
  const [notification] = (await notificationsOf(app, receiver)).items;
  t.equal(notification.message, '두레 베이커리에서 ‘주말 공동 할인’ 글에 보낸 제휴 요청이 취소되었습니다.');
  await app.mails.settled();
  const subjects = app.mails.sent.filter(({ to }) => to === receiver.email).map(({ subject }) => subject);
  t.strictSame(
    subjects.filter((subject) => subject.includes('취소')),
    [],
  );
});

t.test('nothing follows after an answer or a withdrawal', async (t) => {
  for (const first of actions) {
    const { sender, receiver, post } = await openTwoShops(app);
    const id = await sendRequest(app, sender, post);
    t.equal((await transition(app, first === 'withdraw' ? sender : receiver, id, first)).status, 200);
    const before = [await notifiedOf(app, sender), await notifiedOf(app, receiver)];
    for (const second of actions) {
      const answer = await transition(app, second === 'withdraw' ? sender : receiver, id, second);
      refused(t, answer, 409, 'invalid_transition');
    }
    t.strictSame([await notifiedOf(app, sender), await notifiedOf(app, receiver)], before, 'nobody was told');
  }
});

t.test('for anyone else a request does not exist', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const stranger = await openShop(app, '다른 가게');
  const user = await createUser(app);
  const id = await sendRequest(app, sender, post);
  const missing = await transition(app, stranger, 2_147_483_647, 'accept');
  refused(t, missing, 404, 'partner_request_not_found');
  for (const [who, may] of [
    [sender, ['withdraw']],
    [receiver, ['accept', 'decline']],
    [stranger, []],
    [user, []],
  ] as const) {
    for (const action of actions.filter((one) => !may.some((allowed) => allowed === one))) {
      const answer = await transition(app, who, id, action);
      t.equal(answer.status, 404);
      t.strictSame(answer.body, missing.body);
    }
  }
  await transition(app, receiver, id, 'accept');
  t.strictSame(
    (await transition(app, stranger, id, 'accept')).body,
    missing.body,
    'also once it is answered',
  );
});

t.test('what cannot be an id is a request that does not exist', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const ids = [
    '0',
    '-1',
    `${id}.0`,
    `0${id}`,
    `+${id}`,
    `%20${id}`,
    'abc',
    '2147483648',
    '9'.repeat(30),
    '%00',
  ];
  for (const action of actions) {
    for (const text of ids) {
      refused(t, await transition(app, receiver, text, action), 404, 'partner_request_not_found');
    }
  }
  t.strictSame(await notifiedOf(app, receiver), [['received', id, '요청됨']]);
});

t.test('of twenty mixed answers and withdrawals at once exactly one wins', async (t) => {
  for (let round = 0; round < 3; round++) {
    const { sender, receiver, post } = await openTwoShops(app);
    const id = await sendRequest(app, sender, post);
    const answers = await inParallel(20, (index) => {
      const action = actions[(index + round) % 3] ?? 'accept';
      return transition(app, action === 'withdraw' ? sender : receiver, id, action);
    });
    t.strictSame(tally(answers), { '200': 1, '409 invalid_transition': 19 });
    const won = answers.find(({ status }) => status === 200)?.body.data.status;
    const { rows } = await app.pool.query('SELECT kind FROM notifications WHERE partner_request_id = $1', [
      id,
    ]);
    const kind = { 수락됨: 'accepted', 거절됨: 'declined', 취소됨: 'withdrawn' }[String(won)];
    t.strictSame(rows.map((row) => row.kind).sort(), [
      ...[`partner_request_${kind}`, 'partner_request_received'].sort(),
    ]);
  }
});
