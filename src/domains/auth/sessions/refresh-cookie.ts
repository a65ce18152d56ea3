import cookie, { type CookieSerializeOptions } from '@fastify/cookie';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { StringEnum } from '../../../http/schemas.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import { LoginOrConfirmation } from '../providers/schemas.ts';
import { LogoutBody, RefreshBody, TokenPair, TokenPairWithUser } from '../schemas.ts';

const Headers = Type.Object({
  'x-refresh-token': Type.Optional(
    StringEnum(['cookie'], {
      description:
        'With `cookie`, the refresh token is in an `HttpOnly` cookie, which scripts cannot read, and never in the body',
    }),
  ),
});

export type RefreshCookie = ReturnType<typeof createRefreshCookie>;
/**
 * The refresh token in a cookie, for requests with `X-Refresh-Token: cookie`. A form cannot send that header, and a page of another
 * origin only after a preflight, so the cookie alone does nothing (cross-site request forgery).
 */
export function createRefreshCookie({ production, publicUrl, pageOrigins }: Config) {
  const secure = production || publicUrl.startsWith('https:');
  // With the prefix, browsers take the cookie from this host only, not from its subdomains or siblings, and over TLS only.
  const name = secure ? '__Host-dure-refresh' : 'dure-refresh';
  const attributes: CookieSerializeOptions = { path: '/', httpOnly: true, secure, sameSite: 'strict' };

  const isRequested = ({ headers }: FastifyRequest) => headers['x-refresh-token'] === 'cookie';

  /** Whether the cookie counts: browsers send the origin of the page with every `POST`. */
  function isAllowed(request: FastifyRequest): boolean {
    const { origin } = request.headers;
    return isRequested(request) && (origin === undefined || pageOrigins.includes(origin));
  }

  /** The refresh token in the cookie; undefined where there is none or it does not count. */
  const read = (request: FastifyRequest) =>
    isAllowed(request) ? request.cookies[name] || undefined : undefined;

  /** Whether a client means the cookie, which may be missing or not count. */
  const isMeant = (request: FastifyRequest) => isRequested(request) || name in request.cookies;

  /** Moves the refresh token of a response to the cookie. */
  async function write(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    if (!isRequested(request) || !hasRefreshToken(payload)) return payload;
    const { refresh, ...data } = payload.data;
    reply.setCookie(name, refresh, { ...attributes, maxAge: data.refresh_expires_in });
    return { ...payload, data };
  }

  /** Clears the cookie after statuses with which its token is of no use any more. */
  const clearAfter = (statuses: number[]) => async (request: FastifyRequest, reply: FastifyReply) => {
    if (statuses.includes(reply.statusCode) && isAllowed(request)) reply.clearCookie(name, attributes);
  };

  /** Gives the cookie to every operation that responds with tokens or takes a refresh token, which their schemas tell. */
  const plugin = fastifyPlugin(async (app: FastifyInstance) => {
    await app.register(cookie);
    app.addHook('onRoute', (route) => {
      const answers = Object.entries(route.schema?.response ?? {})
        .filter(([, data]) => refersTo(data, TokenPair, TokenPairWithUser, LoginOrConfirmation))
        .map(([status]) => Number(status));
      const takes = refersTo(route.schema?.body, RefreshBody, LogoutBody);
      if (answers.length === 0 && !takes) return;
      const cleared = takes ? [...(answers.length > 0 ? [] : [200]), 401] : [];
      route.schema = { headers: Headers, ...route.schema };
      route.config = { ...route.config, setsCookie: [...answers, ...cleared] };
      if (answers.length > 0) route.preSerialization = [route.preSerialization ?? [], write].flat();
      if (takes) route.onSend = [route.onSend ?? [], clearAfter(cleared)].flat();
    });
  });

  return { plugin, isMeant, read };
}

/** Whether a response in the envelope has tokens. An operation may respond with something else, too. */
function hasRefreshToken(payload: unknown): payload is { data: TokenPair & { refresh: string } } {
  if (!(payload instanceof Object && 'data' in payload)) return false;
  return payload.data instanceof Object && 'refresh' in payload.data;
}

/** Whether a schema refers to one of some others. */
function refersTo(schema: unknown, ...targets: { $id?: string }[]): boolean {
  const text = JSON.stringify(schema) ?? '';
  return targets.some(({ $id }) => text.includes(`"$ref":"${$id}#"`));
}
