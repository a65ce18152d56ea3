import process from 'node:process';
import jwt from '@fastify/jwt';
import type { TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import fastify, { type FastifyRequest } from 'fastify';
import pg from 'pg';
import { User } from '../src/auth/schemas.ts';
import { jwtOptions } from '../src/auth/tokens.ts';
import { readSecrets } from '../src/config/secrets.ts';
import { UnreadCount } from '../src/notifications/schemas.ts';
import { type Statement, statements } from './limit-statements.ts';

/*
 * The limit with which the service is compared: a bare Fastify that gives the same answers with one prepared statement per
 * request, which checks the session, too. It has no log, metrics, limits, error envelopes or validation beyond that.
 */

const { JWT_SECRET, DATABASE_URL, DATABASE_POOL_SIZE } = process.env;
const secrets = readSecrets(JWT_SECRET, true, '', []);
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(DATABASE_POOL_SIZE) });
const app = fastify();
await app.register(jwt, jwtOptions({ secrets }));
for (const schema of [User, UnreadCount]) app.addSchema(schema);

interface Claims {
  sub: string;
  sid: string;
}

function verify(request: FastifyRequest): Claims {
  return app.jwt.verify<Claims>(request.headers.authorization?.slice('Bearer '.length) ?? '');
}

async function find<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
  const { rows } = await pool.query<Row>({ ...statement, values });
  if (rows.length === 0) throw Object.assign(new Error('no row'), { statusCode: 401 });
  return rows;
}

const envelope = (data: TSchema) => Type.Object({ success: Type.Boolean(), message: Type.String(), data });

/** A route that answers with what one statement finds for the user of a session. */
function get<Row extends pg.QueryResultRow>(
  path: string,
  message: string,
  data: TSchema,
  statement: Statement,
  present: (rows: Row[]) => unknown,
): void {
  app.get(path, { schema: { response: { 200: envelope(data) } } }, async (request) => {
    const { sid, sub } = verify(request);
    return { success: true, message, data: present(await find<Row>(statement, [sid, sub])) };
  });
}

get('/auth/me/', '내 정보를 조회했습니다.', User, statements.me, ([user]) => user);
get(
  '/api/v1/notifications/unread-count/',
  '읽지 않은 알림 수를 조회했습니다.',
  UnreadCount,
  statements.unreadCount,
  ([row]) => row,
);

process.stdout.write(`Server listening at ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.once('SIGTERM', async () => {
  await app.close();
  await pool.end();
});
