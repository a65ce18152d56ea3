import type { Api } from '../support/app.ts';

/**
 * Logs in on the page of the provider for development.
 *
 * @param user what one types there
 * @returns what the page of the callback sends to `finish`
 */
export async function developmentLogin(
  { call }: Api,
  user: { subject: string; email?: string; name?: string; is_email_proved?: string },
  { purpose = 'login', token }: { purpose?: string; token?: string } = {},
) {
  const path = '/auth/providers/development';
  const start = await call('POST', `${path}/start/`, { body: { purpose }, token });
  if (start.status !== 200) throw new Error(`start failed: ${start.text}`);
  const { authorization_url, flow_token } = start.body.data;
  const form = new URLSearchParams({
    ...Object.fromEntries(new URL(authorization_url).searchParams),
    ...user,
  });
  const headers = { host: 'localhost:3000', 'content-type': 'application/x-www-form-urlencoded' };
  const sent = await call('POST', '/dev/login/', { body: String(form), headers });
  const back = new URL(String(sent.headers['location']));
  const callback = await call('GET', `${back.pathname}${back.search}`);
  const page = new URL(String(callback.headers['location'])).searchParams;
  const body = { flow_token, code: page.get('code') ?? '', state: page.get('state') ?? '' };
  return { body, finish: () => call('POST', `${path}/finish/`, { body, token }) };
}
