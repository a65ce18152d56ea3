import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, httpErrors, invalidFields } from '../../http/errors.ts';
import { prefersHtml } from '../../http/media-type.ts';
import { prepareFailure, sendError } from '../../http/plugins/error-handler.ts';
import { EmptyData, Ref } from '../../http/schemas.ts';
import type { Subscription, UnsubscribeLinks } from '../../mail/unsubscribe-links.ts';
import type { Preferences } from '../repository.ts';
import { UnsubscribePage, UnsubscribeQuery } from '../schemas.ts';
import { contentSecurityPolicy, type PageState, renderUnsubscribePage } from '../unsubscribe-page.ts';

const wrongToken = {
  field: 'token',
  code: 'invalid_format',
  text: { ko: '메일에 있는 링크의 토큰이어야 합니다.', en: 'Must be the token of the link in a mail.' },
} as const;

interface Options {
  preferences: Preferences;
  unsubscribeLinks: UnsubscribeLinks;
}

/** The link in mails with which their recipient switches them off, without a login. */
export const unsubscribeRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { preferences, unsubscribeLinks },
) => {
  // RFC 8058, section 3.1: mail clients send a form of either type. Its content says nothing that the token does not.
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, _body, done) => done(null, undefined));
  }
  app.setErrorHandler((error, request, reply) => {
    if (!wantsPage(request, reply)) return sendError(error, request, reply);
    return sendPage(request, reply, stateOf(prepareFailure(error, request, reply)));
  });

  /** @throws {ApiError} `validation_error` */
  function read(token: string): Subscription {
    const subscription = unsubscribeLinks.read(token);
    if (subscription === undefined) throw invalidFields([wrongToken]);
    return subscription;
  }

  app.get(
    '/unsubscribe/',
    {
      config: { errors: [] },
      schema: {
        operationId: 'showUnsubscribePage',
        summary: 'Page of the unsubscribe link',
        description:
          'The page behind the link in mails about partnerships, for browsers; it works without a login. It changes nothing, because mail programs follow links to check them: its button sends `unsubscribe`. Where the client prefers `text/html`, failures are pages, too.',
        querystring: UnsubscribeQuery,
        response: {
          200: { description: 'The page', content: { 'text/html': { schema: Ref(UnsubscribePage) } } },
        },
      },
    },
    async (request, reply) => {
      const { topic } = read(request.query.token);
      return sendPage(request, reply, { kind: 'question', topic });
    },
  );

  app.post(
    '/unsubscribe/',
    {
      config: { message: { ko: '이제 이 메일을 보내지 않습니다.', en: 'These mails are switched off.' } },
      schema: {
        operationId: 'unsubscribe',
        summary: 'Unsubscribe from mails',
        description:
          'Switches off the kind of mail that the `List-Unsubscribe` link was in, without a login (RFC 8058). Sending it again changes nothing more. A token works for good, also after the account was deleted, so that it does not tell whether there is one. The body is ignored: it may be empty, JSON, or a form, as mail programs send it. Where the client prefers `text/html`, the answer is a page.',
        querystring: UnsubscribeQuery,
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request, reply) => {
      const { userId, topic } = read(request.query.token);
      await preferences.change(userId, { on: [], off: [topic] });
      return wantsPage(request, reply) ? sendPage(request, reply, { kind: 'done', topic }) : {};
    },
  );
};

function wantsPage({ headers }: FastifyRequest, reply: FastifyReply): boolean {
  reply.header('vary', `${reply.getHeader('vary')}, Accept`);
  return prefersHtml(headers.accept);
}

function stateOf({ definition }: ApiError): PageState {
  if (definition.code === httpErrors.validationError.code) return { kind: 'wrong link' };
  return { kind: 'failure', text: definition.text };
}

function sendPage({ language }: FastifyRequest, reply: FastifyReply, state: PageState): FastifyReply {
  return reply
    .headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(renderUnsubscribePage(state, language));
}
