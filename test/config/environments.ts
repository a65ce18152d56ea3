import { loadConfig } from '../../src/infrastructure/config/config.ts';
import { inspectConfig } from '../../src/infrastructure/config/environment.ts';
import { production as ofService } from '../support/service.ts';

export const secret = 'kX2v8Jw0rTq5YbN7mZc4LpD9sGh1FaUe3Ri6';

const { HOST: _host, RESEND_BASE_URL: _url, ...needed } = ofService;
const DATABASE_URL = 'postgresql://dure@db.example.com/dure';

/** What production requires. */
export const production = { ...needed, DATABASE_URL, JWT_SECRET: secret };

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
