import { loadConfig } from '../../src/infrastructure/config/config.ts';
import { inspectConfig } from '../../src/infrastructure/config/environment.ts';

export const secret = 'kX2v8Jw0rTq5YbN7mZc4LpD9sGh1FaUe3Ri6';

/** What production requires. */
export const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgresql://dure@db.example.com/dure',
  JWT_SECRET: secret,
  RESEND_API_KEY: 're_dK3vQ8wZ_unused',
  MAIL_FROM: 'Dure <no-reply@example.com>',
  FRONTEND_URL: 'https://app.example.com',
  PUBLIC_URL: 'https://api.example.com',
};

/** The configuration of an environment, with a secret so that none is generated. */
export function load(environment: Record<string, string> = {}) {
  return loadConfig({ JWT_SECRET: secret, ...environment });
}

/** Every environment variable that the service reads. */
export const environmentNames: readonly string[] = [
  ...Object.keys(inspectConfig({}).texts),
  ...['CLIENT_ID', 'CLIENT_SECRET', 'ISSUER', 'SCOPES', 'DISPLAY_NAME'].map((name) => `LOGIN_<NAME>_${name}`),
  ...['TEAM_ID', 'KEY_ID', 'PRIVATE_KEY'].map((name) => `LOGIN_APPLE_${name}`),
  ...['LOGIN_KAKAO_USER_INFO_URL', 'LOGIN_NAVER_BASE_URL', 'LOGIN_NAVER_API_URL'],
];
