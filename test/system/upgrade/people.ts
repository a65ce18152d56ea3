import { password } from '../../support/app.ts';
import type { Provider } from '../../support/provider.ts';
import { until } from '../../support/until.ts';
import type { Balancer } from './balancer.ts';

/** An owner of a store who is logged in. */
export interface Owner {
  username: string;
  email: string;
  token: string;
  refresh: string;
  storeId: number;
}

/** Waits for the mail to an address and takes the code out of it. */
export async function mailedCode(provider: Provider, email: string): Promise<string> {
  const mail = await until('the mail with the code', () => provider.attempts.find(({ to }) => to === email));
  const code = /\b\d{6}\b/.exec(JSON.parse(mail.body).text)?.[0];
  if (code === undefined) throw new Error(`the mail has no code: ${mail.body}`);
  return code;
}

/** Signs up, logs in, confirms the address with the mailed code and opens a store. */
export async function openStore({ call }: Balancer, provider: Provider, username: string): Promise<Owner> {
  const email = `${username}@example.com`;
  await call('POST', '/auth/signup/', { status: 201, body: { username, password, name: '김두레', email } });
  const code = await mailedCode(provider, email);
  const { access, refresh } = await call('POST', '/auth/login/', { body: { username, password } });
  await call('POST', '/auth/email-verify/confirm/', { token: access, body: { email, code } });
  const { items: categories } = await call('GET', '/api/v1/stores/categories/', { token: access });
  const store = { name: `두레 ${username}`, category_ids: [categories[0].id], description: '', address: '' };
  const { id } = await call('POST', '/api/v1/stores/', { status: 201, token: access, body: store });
  return { username, email, token: access, refresh, storeId: id };
}
