import t from 'tap';
import { addFailedMail } from '../support/admin.ts';
import { createTestApp, createUser, queuedFor } from '../support/app.ts';
import { commandsOn, failed } from './command.ts';

// Without a worker, which would send the emails.
const app = await createTestApp({ WORKER_ENABLED: 'false' });
const dure = commandsOn(app);

/** Adds an email that failed permanently. @returns its id, as it is typed */
const failMail = async (user: { id: number }) => String(await addFailedMail(app, user, 'password_changed'));

t.test('failed lists emails with their reason', async (t) => {
  const user = await createUser(app);
  const [first, second] = [await failMail(user), await failMail(user)];
  const page = await dure('mails', 'failed', '--limit', '1');
  const mail = { id: Number(second), kind: 'password_changed', user_id: user.id, attempts: 25 };
  t.match(page.document.items, [{ ...mail, reason: 'the provider rejected it' }]);
  const next = await dure('mails', 'failed', '--limit', '1', '--cursor', page.document.next_cursor);
  t.match(next.document.items, [{ id: Number(first) }]);
  t.equal((await dure('mails', 'drop', first, second)).code, 0);
});

t.test('retry deals with the others where one does not exist, and --all with every one', async (t) => {
  const user = await createUser(app);
  const [first, ...others] = [await failMail(user), await failMail(user), await failMail(user)];
  const partial = await dure('mails', 'retry', '3000000000', first);
  t.equal(partial.code, 3);
  t.match(JSON.parse(partial.stdout), { retried: [Number(first)], not_found: [3_000_000_000] });
  t.match(JSON.parse(partial.stderr), { error: { code: 'mail_not_found' } });
  const rest = others.map(Number);
  t.same((await dure('mails', 'retry', '--all')).document, { retried: rest, not_found: [] });
  t.match(await dure('mails', 'retry', '--all'), { code: 0, document: { retried: [] } });
  t.strictSame(await queuedFor(app, user), ['password_changed', 'password_changed', 'password_changed']);
});

t.test('drop deletes emails, which are not sent', async (t) => {
  const user = await createUser(app);
  const id = await failMail(user);
  t.strictSame((await dure('mails', 'drop', id)).document, { dropped: [Number(id)], not_found: [] });
  t.equal((await dure('mails', 'drop', id)).code, 3);
  t.strictSame(await queuedFor(app, user), []);
});

t.test('which emails must be said', async (t) => {
  for (const args of ['retry', 'retry --all 1', 'retry x', 'drop', 'drop 0'])
    failed(t, await dure('mails', ...args.split(' ')), 2, 'usage');
});

t.test('every use of the commands has an audit entry', async (t) => {
  await dure('audit', '--operator', 'auditor');
  const { document } = await dure('audit', '--limit', '1000');
  t.match(document.items[0], { operator: 'cli:auditor', action: 'audit_listed' });
  const actions = new Set(document.items.map(({ action }: { action: string }) => action));
  const expected = ['audit_listed', 'failed_mail_dropped', 'failed_mail_retried', 'failed_mails_listed'];
  t.same([...actions].sort(), expected);
});
