import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { currentUser } from '../../../http/authentication.ts';
import { httpErrors, invalidFields } from '../../../http/errors.ts';
import { prefersHtml, sendPage } from '../../../http/pages.ts';
import { prepareError, sendError } from '../../../http/plugins/envelope.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { EmptyData, Ref } from '../../../http/schemas.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Secret } from '../../../infrastructure/config/keys.ts';
import { MailTopic } from '../../../infrastructure/database/generated/enums.ts';
import { escapeHtml } from '../../../infrastructure/mail/rendering.ts';
import type { Preferences } from './repository.ts';
import * as schemas from './schemas.ts';

const emptyHours = {
  field: '/quiet_hours/to',
  code: 'duplicate',
  text: { ko: '시작 시각과 달라야 합니다.', en: 'Must not be the same as `from`.' },
} as const;

/** The preferences of the logged-in user. */
export const preferenceRoutes: Routes<{ preferences: Preferences }> = async (app, { preferences }) => {
  app.get('/preferences/', {
    config: operation('user', '알림 설정을 조회했습니다.', 'Here are your notification preferences.'),
    schema: {
      operationId: 'getMailPreferences',
      summary: 'Notification preferences',
      description:
        'The language of emails and push messages, which of them the user gets, and when none is sent.',
      response: { 200: Ref(schemas.MailPreferences) },
    },
    handler: async (request) => schemas.toMailPreferences(await preferences.find(currentUser(request).id)),
  });

  app.patch('/preferences/', {
    config: operation(
      'user',
      '알림 설정을 변경했습니다.',
      'Your notification preferences have been changed.',
    ),
    schema: {
      operationId: 'updateMailPreferences',
      summary: 'Change notification preferences',
      description:
        'Changes the given fields. Until `language` is set here, it follows the language of the latest login; from then on it stays. What is due within `quiet_hours` is sent within a minute of their end, also when this operation ends them, or not at all when its notification was read meanwhile. Codes, links and notices about the account are sent at any time, and notifications inside the service do not depend on these preferences.',
      body: Ref(schemas.MailPreferenceChanges),
      response: { 200: Ref(schemas.MailPreferences) },
    },
    handler: async (request) => {
      const { body } = request;
      if (body.quiet_hours && body.quiet_hours.from === body.quiet_hours.to)
        throw invalidFields([emptyHours]);
      return schemas.toMailPreferences(await preferences.change(currentUser(request).id, body));
    },
  });
};

type Subscription = { userId: number; topic: MailTopic };

/**
 * Links with which a recipient switches a topic of emails off without a login (RFC 8058). Their token names the account and the
 * topic and is signed, so it is not stored. It does not expire: it works as long as one of the configured secrets signed it.
 */
export function createUnsubscribeLinks({ secrets, publicUrl }: Pick<Config, 'secrets' | 'publicUrl'>) {
  function sign({ userId, topic }: Subscription, { key }: Secret): string {
    const digest = createHmac('sha256', key).update(`dure unsubscribe:${userId}:${topic}`);
    return `${userId}.${topic}.${digest.digest('base64url')}`;
  }

  function url(subscription: Subscription): string {
    const query = new URLSearchParams({ token: sign(subscription, secrets[0]) });
    return `${publicUrl}/api/v1/notifications/unsubscribe/?${query}`;
  }

  /** @throws {ApiError} `validation_error` when no configured secret signed the token */
  function read(token: string): Subscription {
    const [, userId, name] = /^([1-9]\d{0,9})\.([a-z_]{1,50})\.[\w-]{43}$/.exec(token) ?? [];
    const topic = Object.values(MailTopic).find((one) => one === name);
    if (userId !== undefined && topic !== undefined) {
      const subscription = { userId: Number(userId), topic };
      const signed = (secret: Secret) => Buffer.from(sign(subscription, secret));
      if (secrets.some((secret) => timingSafeEqual(signed(secret), Buffer.from(token)))) return subscription;
    }
    throw invalidFields([wrongToken]);
  }

  return { url, read };
}

const wrongToken = {
  field: 'token',
  code: 'invalid_format',
  text: { ko: '메일에 있는 링크의 토큰이어야 합니다.', en: 'Must be the token of the link in a mail.' },
} as const;

/** The link in emails with which their recipient switches them off, without a login. */
export const unsubscribeRoutes: Routes<{
  preferences: Preferences;
  unsubscribeLinks: ReturnType<typeof createUnsubscribeLinks>;
  frontendUrl: string;
}> = async (app, { preferences, unsubscribeLinks, frontendUrl }) => {
  const settingsUrl = escapeHtml(`${frontendUrl}/account/alerts`);
  // RFC 8058, section 3.1: mail clients send a form of either type. Its content says nothing that the token does not.
  const types = ['application/x-www-form-urlencoded', 'multipart/form-data'];
  app.addContentTypeParser(types, async (request: FastifyRequest) => void (await request.readBody()));
  app.setErrorHandler((error, request, reply) => {
    if (!wantsPage(request, reply)) return sendError(error, request, reply);
    const { definition } = prepareError(error, request, reply);
    const text = texts[request.language];
    return definition.code === httpErrors.validationError.code
      ? show(reply, text.wrongLink, `<p>${text.wholeLink}</p>`)
      : show(reply, text.error, `<p>${escapeHtml(definition.text[request.language])}</p>`);
  });

  app.get('/unsubscribe/', {
    config: { access: 'anyone', errors: [] },
    schema: {
      operationId: 'showUnsubscribePage',
      summary: 'Page of the unsubscribe link',
      description:
        'The page behind the link in emails about partnerships, for browsers; it works without a login. It changes nothing, because mail programs follow links to check them: its button sends `unsubscribe`. Where the client prefers `text/html`, errors are pages, too.',
      querystring: schemas.UnsubscribeQuery,
      response: {
        200: { description: 'The page', content: { 'text/html': { schema: Ref(schemas.UnsubscribePage) } } },
      },
    },
    handler: async (request, reply) => {
      const { topic } = unsubscribeLinks.read(request.query.token);
      const { question, about, stop, kept } = texts[request.language];
      // The form has no address, so it is sent to that of the page, with its token.
      const form = `<form method="post"><button>${stop}</button></form>`;
      return show(reply, question, `<p>${about(topic)}</p>\n${form}\n<p class="soft">${kept}</p>`);
    },
  });

  app.post('/unsubscribe/', {
    config: operation('anyone', '이제 이 메일을 보내지 않습니다.', 'These mails are switched off.'),
    schema: {
      operationId: 'unsubscribe',
      summary: 'Unsubscribe from mails',
      description:
        'Switches off the kind of email that the `List-Unsubscribe` link was in, without a login (RFC 8058). Sending it again changes nothing more. A token works permanently, also after the account was deleted, so that it does not tell whether there is one. The body is ignored: it may be empty, JSON, or a form, as mail programs send it. Where the client prefers `text/html`, the response is a page.',
      querystring: schemas.UnsubscribeQuery,
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request, reply) => {
      const { userId, topic } = unsubscribeLinks.read(request.query.token);
      await preferences.change(userId, { email: { [topic]: false } });
      if (!wantsPage(request, reply)) return {};
      const { done, about, again, kept } = texts[request.language];
      return show(reply, done, `<p>${about(topic)}</p>\n<p class="soft">${again(settingsUrl)} ${kept}</p>`);
    },
  });
};

function wantsPage({ headers }: FastifyRequest, reply: FastifyReply): boolean {
  reply.header('vary', `${reply.getHeader('vary')}, Accept`);
  return prefersHtml(headers.accept);
}

const texts = {
  ko: {
    brand: '두레',
    about: (topic: MailTopic) => `메일 종류: <strong>${schemas.topics[topic].name.ko}</strong>`,
    question: '메일을 그만 받으시겠습니까?',
    stop: '그만 받기',
    kept: '두레 화면의 알림은 그대로 받으실 수 있습니다.',
    done: '메일 수신을 해제했습니다',
    again: (url: string) => `다시 받으시려면 두레의 <a href="${url}">알림 설정</a>에서 켜 주세요.`,
    wrongLink: '사용할 수 없는 링크입니다',
    wholeLink: '링크가 잘렸을 수 있습니다. 메일에 있는 링크를 다시 눌러 주세요.',
    error: '처리하지 못했습니다',
  },
  en: {
    brand: 'Dure',
    about: (topic: MailTopic) => `Emails about <strong>${schemas.topics[topic].name.en}</strong>`,
    question: 'Stop these emails?',
    stop: 'Stop these emails',
    kept: 'You will still see the notifications inside Dure.',
    done: 'These emails are switched off',
    again: (url: string) =>
      `To get them again, switch them on in the <a href="${url}">alert settings</a> of Dure.`,
    wrongLink: 'This link does not work',
    wholeLink: 'It may have been cut off. Please open the link in the email again.',
    error: 'That did not work',
  },
};

const style = `body{max-width:560px;padding:24px 16px}
main{padding:24px;background:var(--card);border-radius:14px}
h1{margin:0 0 12px;font-size:22px;line-height:1.4}
p{margin:0 0 16px}
.brand{margin:0 0 12px;color:var(--brand);font-weight:800}
.soft{margin:0;color:var(--soft);font-size:14px}
a{color:var(--brand)}
button{width:100%;min-height:48px;margin:0 0 16px;border:0;border-radius:10px;background:var(--brand);color:var(--on-brand);font:inherit;font-weight:700;cursor:pointer}
button:focus-visible{outline:3px solid var(--ink);outline-offset:2px}`;

function show(reply: FastifyReply, heading: string, html: string) {
  const { language } = reply.request;
  const { brand } = texts[language];
  const title = `${heading} · ${brand}`;
  const body = `<main>\n<p class="brand">${brand}</p>\n<h1>${heading}</h1>\n${html}\n</main>`;
  return sendPage(reply, { language, title, style, body, policy: ["form-action 'self'"] });
}
