import { randomUUID } from 'node:crypto';
import type { TSchema } from '@sinclair/typebox';
import argon2 from 'argon2';
import type { FastifyPluginAsync } from 'fastify';
import type pg from 'pg';
import { TokenPair, TokenPairWithUser, type User } from '../src/domains/auth/schemas.ts';
import { type Statement, statements } from './baseline-statements.ts';

interface Options {
  find<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<[Row, ...Row[]]>;
  envelope(data: TSchema): TSchema;
}

interface RefreshClaims {
  sub: string;
  sid: string;
  count: number;
}

const accessLifetime = 900;

/** Login and refresh of the hand-written baseline. */
export const sessionRoutes: FastifyPluginAsync<Options> = async (app, { find, envelope }) => {
  function issue({ sub, sid, count }: RefreshClaims, lifetime: number): TokenPair {
    const sign = (payload: object, expiresIn: number) =>
      app.jwt.sign({ sid, ...payload }, { sub, jti: randomUUID(), expiresIn });
    const refreshLifetime = Math.floor(lifetime);
    return {
      access: sign({ token_type: 'access' }, accessLifetime),
      refresh: sign({ token_type: 'refresh', count }, refreshLifetime),
      token_type: 'Bearer',
      expires_in: accessLifetime,
      refresh_expires_in: refreshLifetime,
    };
  }

  app.post<{ Body: { username: string; password: string } }>(
    '/auth/login/',
    { schema: { response: { 200: envelope(TokenPairWithUser) } } },
    async ({ body, ip }) => {
      const [account] = await find<User & { password_hash: string }>(statements.findForLogin, [
        body.username,
      ]);
      const { password_hash: hash, ...user } = account;
      if (!(await argon2.verify(hash, body.password))) throw new Error('wrong password');
      const [session] = await find<{ id: string }>(statements.logIn, [user.id, hash, ip]);
      const pair = issue({ sub: String(user.id), sid: session.id, count: 0 }, 14 * 86_400);
      return { success: true, message: '로그인되었습니다.', data: { ...pair, user } };
    },
  );

  app.post<{ Body: { refresh: string } }>(
    '/auth/token/refresh/',
    { schema: { response: { 200: envelope(TokenPair) } } },
    async ({ body }) => {
      const { sub, sid, count } = app.jwt.verify<RefreshClaims>(body.refresh);
      const [row] = await find<{ count: number; lifetime: number }>(statements.refresh, [sid, count]);
      return {
        success: true,
        message: '토큰을 갱신했습니다.',
        data: issue({ sub, sid, count: row.count }, row.lifetime),
      };
    },
  );
};
