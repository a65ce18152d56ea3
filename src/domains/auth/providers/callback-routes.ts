import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { readForm } from '../../../http/plugins/body-reader.ts';
import { addAppleName } from './clients/adapters.ts';
import type { LoginProvider } from './clients/openid-connect.ts';
import { ProviderPath } from './schemas.ts';

interface CallbackRoutesOptions {
  providers: readonly LoginProvider[];
  frontendUrl: string;
}

/** What the callback page gets, and nothing else that a provider sends (RFC 6749, appendix A). */
const shapes = { code: /^[ -~]{1,2000}$/, state: /^[\w-]{1,200}$/, error: /^\w{1,100}$/ };

/** Where providers send the browser. Changes nothing: it does not know which browser began the login. */
export const callbackRoutes: FastifyPluginAsyncTypebox<CallbackRoutesOptions> = async (
  app,
  { providers, frontendUrl },
) => {
  app.addContentTypeParser('application/x-www-form-urlencoded', async (request: FastifyRequest) =>
    Object.fromEntries(await readForm(request)),
  );

  function callbackPage(id: string, sent: unknown): string {
    const fields = new Map(Object.entries(sent ?? {}));
    const provider = providers.find((one) => one.id === id)?.id;
    const page = new URLSearchParams(provider === undefined ? {} : { provider });
    const read = (name: keyof typeof shapes) => {
      const value = fields.get(name);
      return typeof value === 'string' && shapes[name].test(value) ? value : undefined;
    };
    const [code, state, error] = [read('code'), read('state'), read('error')];
    if (provider === undefined || code === undefined || state === undefined || error !== undefined) {
      page.set('error', error ?? 'invalid_request');
    } else {
      page.set('code', provider === 'apple' ? addAppleName(code, fields.get('user')) : code);
      page.set('state', state);
    }
    return `${frontendUrl}/login/callback?${page}`;
  }

  const schemaOf = (operationId: string, summary: string, note = '') => ({
    operationId,
    summary,
    description: `Sends the browser on to \`{FRONTEND_URL}/login/callback\`, with \`provider\`, and \`code\` and \`state\` or \`error\`. Changes nothing.${note}`,
    params: ProviderPath,
    response: { 303: Type.Null({ description: 'To the callback page' }) },
  });

  app.get(
    '/providers/:provider/callback/',
    { schema: schemaOf('receiveProviderRedirect', 'Where providers send the browser') },
    async (request, reply) => reply.redirect(callbackPage(request.params.provider, request.query), 303),
  );

  const formSummary = 'Where providers that send a form send the browser';
  app.post(
    '/providers/:provider/callback/',
    { schema: schemaOf('receiveProviderForm', formSummary, ' Apple does so.') },
    async (request, reply) => reply.redirect(callbackPage(request.params.provider, request.body), 303),
  );
};
