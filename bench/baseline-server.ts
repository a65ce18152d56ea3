import process from 'node:process';
import jwt from '@fastify/jwt';
import { type TSchema, Type } from '@sinclair/typebox';
import fastify, { type FastifyRequest } from 'fastify';
import pg from 'pg';
import { User } from '../src/domains/auth/schemas.ts';
import { jwtOptions } from '../src/domains/auth/tokens.ts';
import { createImageUrls } from '../src/domains/images/image-urls.ts';
import { toMyPage } from '../src/domains/my-page/presenters.ts';
import type { MyPageRow } from '../src/domains/my-page/repository.ts';
import { MyPage } from '../src/domains/my-page/schemas.ts';
import { toNotification } from '../src/domains/notifications/presenters.ts';
import type { NotificationRow } from '../src/domains/notifications/repository.ts';
import { NotificationPage, UnreadCount } from '../src/domains/notifications/schemas.ts';
import { toPartnerRequest } from '../src/domains/partner-requests/presenters.ts';
import type { SentRequestRow } from '../src/domains/partner-requests/repository/rows.ts';
import { PartnerRequest } from '../src/domains/partner-requests/schemas.ts';
import { Ref, referencedSchemas } from '../src/http/schemas.ts';
import { readSecrets } from '../src/infrastructure/config/secrets.ts';
import { int8AsNumber } from '../src/infrastructure/database/client.ts';
import { sessionRoutes } from './baseline-sessions.ts';
import { type Statement, statements } from './baseline-statements.ts';

/*
 * The limit with which the service is compared: a bare Fastify that gives the same responses with one prepared statement per
 * request, which checks the session, too. It has no log, metrics, limits, error envelopes or validation.
 */

const { JWT_SECRET, DATABASE_URL, DATABASE_POOL_SIZE } = process.env;
const imageUrls = createImageUrls({
  publicUrl: 'https://api.example.com',
  images: { baseUrl: 'https://api.example.com/media' },
});
const secrets = readSecrets(JWT_SECRET, true, '', []);
const pool = new pg.Pool({
  connectionString: DATABASE_URL,
  max: Number(DATABASE_POOL_SIZE),
  types: int8AsNumber,
});
const app = fastify();
// Every signature is verified again, as by default.
const { verify: verifyOptions, ...jwtDefaults } = jwtOptions({ secrets });
await app.register(jwt, { ...jwtDefaults, verify: { ...verifyOptions, cache: false } });

/** The session of a request. */
function sessionOf({ headers }: FastifyRequest): string {
  return app.jwt.verify<{ sid: string }>((headers.authorization ?? '').slice('Bearer '.length)).sid;
}

/** @throws Error with the status 401 without a row */
async function find<Row extends pg.QueryResultRow>(
  statement: Statement,
  values: unknown[],
): Promise<[Row, ...Row[]]> {
  const { rows } = await pool.query<Row>({ ...statement, values });
  const [first, ...others] = rows;
  if (first === undefined) throw Object.assign(new Error('no row'), { statusCode: 401 });
  return [first, ...others];
}

const envelope = (data: TSchema) =>
  Type.Object({ success: Type.Boolean(), message: Type.String(), data: Ref(data) });

/** A route that responds with what one statement finds for the user of a session. */
function get<Row extends pg.QueryResultRow>(
  path: string,
  message: string,
  [data, statement]: [TSchema, Statement],
  present: (rows: [Row, ...Row[]]) => unknown,
): void {
  app.get(path, { schema: { response: { 200: envelope(data) } } }, async (request) => {
    return { success: true, message, data: present(await find<Row>(statement, [sessionOf(request)])) };
  });
}

get('/auth/me/', '내 정보를 조회했습니다.', [User, statements.me], ([user]) => user);
get(
  '/api/v1/notifications/unread-count/',
  '읽지 않은 알림 수를 조회했습니다.',
  [UnreadCount, statements.unreadCount],
  ([row]) => row,
);
get<MyPageRow>(
  '/api/v1/stores/mypage/',
  '마이페이지 정보를 조회했습니다.',
  [MyPage, statements.myPage],
  ([page]) => toMyPage(page, imageUrls),
);
get<NotificationRow & { unread_count: number }>(
  '/api/v1/notifications/mypage/',
  '알림 목록을 조회했습니다.',
  [NotificationPage, statements.notifications],
  (rows) => {
    const shown = rows.slice(0, 20);
    const last = rows.length > 20 ? shown.at(-1) : undefined;
    const cursor = last && Buffer.from(`${last.createdAt.getTime()}_${last.id}`).toString('base64url');
    const { unread_count } = rows[0];
    return {
      items: shown.map((row) => toNotification(row, 'ko')),
      next_cursor: cursor ?? null,
      unread_count,
    };
  },
);

/** The second path adds an email job and wakes streams up, as the service does. */
const creations: [path: string, statement: Statement][] = [
  ['/api/v1/notifications/partner-request/', statements.createRequest],
  ['/with-mail/api/v1/notifications/partner-request/', statements.createRequestWithMail],
];
for (const [path, statement] of creations) {
  const schema = { response: { 201: envelope(PartnerRequest) } };
  app.post<{ Body: { post_id: number; message: string } }>(path, { schema }, async (request, reply) => {
    const { post_id, message } = request.body;
    const [row] = await find<SentRequestRow>(statement, [sessionOf(request), post_id, message]);
    reply.code(201);
    return { success: true, message: '제휴를 요청했습니다.', data: toPartnerRequest(row) };
  });
}

await sessionRoutes(app, { find, envelope });
for (const schema of Object.values(referencedSchemas)) app.addSchema(schema);
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`Server listening at ${app.listeningOrigin}\n`);
process.once('SIGTERM', async () => {
  await app.close();
  await pool.end();
});
