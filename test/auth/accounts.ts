import { codeIn, password, type TestApp } from '../support/app.ts';

let counter = 0;

/** A valid body of a sign-up, with a new username and address. */
export function signUpBody(
  fields: Record<string, unknown> = {},
): Record<string, unknown> & { username: string; email: string; password: string } {
  counter += 1;
  return {
    username: `guest${counter}`,
    email: `visitor${counter}@example.com`,
    name: '김두레',
    password,
    ...fields,
  };
}

/** Verifies an address with the code that is mailed to it. @returns the `verification_token` */
export async function verifyAddress({ call, mails }: TestApp, email: string): Promise<string> {
  const before = mails.sent.filter(({ to }) => to === email).length;
  await call('POST', '/auth/email-verify/send/', { body: { email } });
  const code = codeIn(await mails.next(email, before));
  const confirmed = await call('POST', '/auth/email-verify/confirm/', { body: { email, code } });
  if (confirmed.status !== 200) throw new Error(`confirming failed: ${confirmed.text}`);
  return confirmed.body.data.verification_token;
}
