import process from 'node:process';
import argon2 from 'argon2';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import pg from 'pg';
import type { TokenClaims } from '../src/domains/auth/tokens.ts';
import { createImageUrls } from '../src/domains/images/index.ts';
import type { NotificationRow } from '../src/domains/notifications/inbox/repository.ts';
import { toNotification } from '../src/domains/notifications/inbox/schemas.ts';
import { plannerSettings } from '../src/infrastructure/database/client.ts';
import type { InJson } from '../src/infrastructure/times.ts';
import { statements } from './baseline-statements.ts';
import { tokens } from './data.ts';

/*
 * The limit with which the service is compared: a bare Fastify that gives the same responses with one prepared statement per
 * request, which checks the session and writes the JSON, too. It has no log, metrics, limits, error envelopes or validation.
 */

const settings = Object.entries({ ...plannerSettings, timezone: 'UTC' });
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  // The default of the service.
  max: 10,
  options: settings.map(([name, value]) => `-c ${name}=${value}`).join(' '),
});
const app = fastify();

/** Of matches of saved searches, of which the data has none. */
const imageUrls = createImageUrls({ publicUrl: 'http://localhost', images: { baseUrl: 'http://localhost' } });

/** @throws Error with the status 401 */
function claimsOf(type: 'access' | 'refresh', token = ''): TokenClaims {
  const claims = tokens.verify(type, token);
  if ('problem' in claims) throw Object.assign(new Error(claims.problem), { statusCode: 401 });
  return claims;
}

const accessOf = ({ headers }: FastifyRequest) =>
  claimsOf('access', headers.authorization?.slice('Bearer '.length));

/** The first row of a statement as an array. @throws Error with the status 401 without a row */
async function find<Row extends unknown[]>(name: keyof typeof statements, values: unknown[]): Promise<Row> {
  const { rows } = await pool.query<Row>({ name, text: statements[name], values, rowMode: 'array' });
  if (rows[0] === undefined) throw Object.assign(new Error('no row'), { statusCode: 401 });
  return rows[0];
}

/** Sends a response whose data is JSON already. */
function send(reply: FastifyReply, message: string, data: string): FastifyReply {
  reply.type('application/json; charset=utf-8');
  return reply.send(`{"success":true,"message":"${message}","data":${data}}`);
}

const reads: [path: string, message: string, name: 'me' | 'myPage' | 'unreadCount'][] = [
  ['/auth/me/', '내 정보를 조회했습니다.', 'me'],
  ['/api/v1/stores/mypage/', '마이페이지 정보를 조회했습니다.', 'myPage'],
  ['/api/v1/notifications/unread-count/', '읽지 않은 알림 수를 조회했습니다.', 'unreadCount'],
];
for (const [path, message, name] of reads) {
  app.get(path, async (request, reply) => {
    const [data] = await find<[string]>(name, [accessOf(request).sessionId]);
    return send(reply, message, data);
  });
}

app.get('/api/v1/notifications/mypage/', async (request, reply) => {
  type Rows = InJson<NotificationRow>[];
  const { sessionId, userId } = accessOf(request);
  const [rows, unread_count] = await find<[Rows, number]>('notifications', [sessionId, userId]);
  const items = rows.slice(0, 20).map((row) => toNotification(row, 'ko', imageUrls));
  const last = rows.length > 20 ? items.at(-1) : undefined;
  const next_cursor = last
    ? Buffer.from(`${Date.parse(last.created_at)}_${last.id}`).toString('base64url')
    : null;
  return send(reply, '알림 목록을 조회했습니다.', JSON.stringify({ items, next_cursor, unread_count }));
});

app.post<{ Body: { post_id: number; message: string } }>(
  '/api/v1/notifications/partner-request/',
  async (request, reply) => {
    const values = [accessOf(request).sessionId, request.body.post_id, request.body.message];
    const [data] = await find<[string]>('createRequest', values);
    return send(reply.code(201), '제휴를 요청했습니다.', data);
  },
);

const accessLifetime = 900;

function issue(claims: TokenClaims, refreshLifetime: number) {
  return {
    access: tokens.sign('access', claims, accessLifetime),
    refresh: tokens.sign('refresh', claims, refreshLifetime),
    token_type: 'Bearer',
    expires_in: accessLifetime,
    refresh_expires_in: refreshLifetime,
  };
}

app.post<{ Body: { username: string; password: string } }>('/auth/login/', async ({ body, ip }, reply) => {
  const [userId, hash, user] = await find<[number, string, string]>('findForLogin', [body.username]);
  if (!(await argon2.verify(hash, body.password))) throw new Error('wrong password');
  const [sessionId] = await find<[string]>('logIn', [userId, hash, ip]);
  const pair = JSON.stringify(issue({ userId, sessionId, count: 0 }, 14 * 86_400));
  return send(reply, '로그인되었습니다.', `${pair.slice(0, -1)},"user":${user}}`);
});

app.post<{ Body: { refresh: string } }>('/auth/token/refresh/', async ({ body }, reply) => {
  const claims = claimsOf('refresh', body.refresh);
  const [count, lifetime] = await find<[number, number]>('refresh', [claims.sessionId, claims.count]);
  return send(reply, '토큰을 갱신했습니다.', JSON.stringify(issue({ ...claims, count }, lifetime)));
});

await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`Server listening at ${app.listeningOrigin}\n`);
