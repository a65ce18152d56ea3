import { type Static, Type } from '@sinclair/typebox';
import { Page } from '../http/pagination.ts';
import { Int32, Ref, StringEnum, Timestamp } from '../http/schemas.ts';
import { TextField } from '../http/text.ts';
import { password, User } from './schemas.ts';

const jwt = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.Zm9yIGV4YW1wbGUgb25seQ';

export const Credentials = Type.Object(
  {
    username: TextField('line', {
      minLength: 1,
      maxLength: 254,
      description: 'The username or the e-mail address',
      examples: ['dure_cafe'],
    }),
    password,
  },
  { $id: 'Credentials', description: 'Who logs in', additionalProperties: false },
);

const tokenPair = {
  access: Type.String({
    description: 'Access token: send it as `Authorization: Bearer <access>`',
    examples: [jwt],
  }),
  refresh: Type.String({
    description: 'Refresh token: gives a new pair at `refreshToken`. Keep the newest one only.',
    examples: [jwt],
  }),
  token_type: StringEnum(['Bearer'], { description: 'The scheme of the `Authorization` header' }),
  expires_in: Int32({ description: 'Seconds until `access` expires', examples: [900] }),
  refresh_expires_in: Int32({ description: 'Seconds until `refresh` expires', examples: [1209600] }),
};

export const TokenPair = Type.Object(tokenPair, { $id: 'TokenPair', description: 'The tokens of a session' });
export type TokenPair = Static<typeof TokenPair>;

export const TokenPairWithUser = Type.Object(
  { ...tokenPair, user: Ref(User) },
  { $id: 'TokenPairWithUser', description: 'The tokens of a new session, and who logged in' },
);
export type TokenPairWithUser = Static<typeof TokenPairWithUser>;

const refresh = TextField('line', { minLength: 1, description: 'A refresh token', examples: [jwt] });
export const SessionToRefresh = Type.Object(
  { refresh },
  { $id: 'SessionToRefresh', description: 'The session to refresh', additionalProperties: false },
);
export const SessionToEnd = Type.Object(
  { refresh: Type.Optional(refresh) },
  {
    $id: 'SessionToEnd',
    description: 'The session to end, where no access token is sent',
    additionalProperties: false,
  },
);

export const Session = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'Names the session',
      examples: ['3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e'],
    }),
    user_agent: Type.String({
      description: '`User-Agent` of the login',
      examples: ['Mozilla/5.0 (Linux; Android 15)'],
    }),
    ip: Type.String({ description: 'Address of the client at login', examples: ['203.0.113.7'] }),
    created_at: Timestamp('When the user logged in'),
    last_used_at: Timestamp('When the session was last refreshed'),
    is_current: Type.Boolean({ description: 'Whether this very request belongs to it', examples: [true] }),
  },
  { $id: 'Session', description: 'A device that is logged in' },
);
export type Session = Static<typeof Session>;
export const SessionPage = Page('SessionPage', Ref(Session));

/** Registered by `$id`, so that the OpenAPI document names them. */
export const sessionSchemas = [
  Credentials,
  TokenPair,
  TokenPairWithUser,
  SessionToRefresh,
  SessionToEnd,
  Session,
  SessionPage,
];
