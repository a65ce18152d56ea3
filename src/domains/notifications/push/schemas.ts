import { type Static, Type } from '@sinclair/typebox';
import { defineError } from '../../../http/errors.ts';
import { Page } from '../../../http/pagination.ts';
import * as t from '../../../http/schemas.ts';
import { pattern, TextField } from '../../../http/text.ts';

/** Of one user. */
export const maxSubscriptions = 10;

export const pushErrors = {
  subscriptionNotFound: defineError(404, 'subscription_not_found', {
    ko: '해당 푸시 알림 구독을 찾을 수 없습니다.',
    en: 'There is no such subscription.',
  }),
  tooManySubscriptions: defineError(409, 'too_many_subscriptions', {
    ko: `푸시 알림은 브라우저 ${maxSubscriptions}개까지 받을 수 있습니다.`,
    en: 'At most ten browsers can get push messages.',
  }),
};

export const PushKey = t.NamedObject('PushKey', 'The key of the service (RFC 8292)', {
  public_key: t.Base64url('An uncompressed point of P-256 in base64url, for `applicationServerKey`', 87),
});

/** @param bytes that its base64url stands for */
const bytes = (bytes: number, description: string) =>
  Type.String({
    ...pattern(`^[A-Za-z0-9_-]{${Math.ceil((bytes * 4) / 3)}}$`, {
      ko: `${bytes}바이트를 base64url로 인코딩한 값이어야 합니다.`,
      en: `Must be ${bytes} bytes, encoded in base64url.`,
    }),
    ...t.documented({ maxLength: Math.ceil((bytes * 4) / 3) }),
    description,
  });

const PushSubscriptionKeys = t.Body('PushSubscriptionKeys', 'With which messages are encrypted (RFC 8291)', {
  p256dh: bytes(65, 'The public key of the browser: an uncompressed point of P-256 in base64url'),
  auth: bytes(16, 'A secret of the browser: 16 bytes in base64url'),
});

export const NewPushSubscription = t.Body(
  'NewPushSubscription',
  'What `toJSON()` of a browser’s `PushSubscription` gives',
  {
    endpoint: TextField('url', {
      format: 'uri',
      minLength: 1,
      maxLength: 2048,
      description:
        'The URL of the push service: `https`, without credentials and port, at a host that the operator allows, which by default are those of Chrome, Edge, Firefox and Safari. Outside production also one of the machine of the service, with `http` and any port.',
    }),
    expirationTime: Type.Optional(
      Type.Unsafe<number | null>({
        type: ['number', 'null'],
        description: 'Not needed: push services say when a subscription has ended',
      }),
    ),
    keys: t.Ref(PushSubscriptionKeys),
  },
);
export type NewPushSubscription = Static<typeof NewPushSubscription>;

// `PushSubscription` is a class of browsers.
export const StoredPushSubscription = t.NamedObject(
  'StoredPushSubscription',
  'A browser that gets push messages',
  {
    id: t.Id('Identifier'),
    user_agent: t.Text('How the browser named itself', 400),
    created_at: t.Timestamp('When it was added'),
  },
);
export const PushSubscriptionPage = Page('PushSubscriptionPage', t.Ref(StoredPushSubscription));
