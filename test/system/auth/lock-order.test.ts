import t from 'tap';
import { createEmailSecretRepository } from '../../../src/domains/auth/email/repository.ts';
import { createDerivedSecrets } from '../../../src/domains/auth/secrets.ts';
import { advisoryLocks } from '../../../src/infrastructure/database/locks.ts';
import { accountsOf, signUpBody } from '../../auth/accounts.ts';
import { createTestApp, createUser, type TestResponse } from '../../support/app.ts';
import { inParallel, lockRows } from '../../support/concurrency.ts';
import { openTestDatabase } from '../../support/database.ts';

/* All of auth/ locks in one order, which `advisoryLocks.names` says; otherwise operations on one address deadlock. */

const app = await createTestApp();
const database = openTestDatabase(t, app.url, 4);
const secrets = createDerivedSecrets(app.config.secrets);
const repository = createEmailSecretRepository(database, secrets, app.config.email);
const { emailCodes, passwordResets, undoLinks } = repository;
const accounts = accountsOf(app);
const { confirm, changeEmail } = accounts;

/** An address with all that can be used at it, another account that moves to it, and perhaps an unverified account that has it. */
async function createRivals(isHeld: boolean) {
  const mover = await createUser(app);
  const email = `shared-${mover.email}`;
  const owner = await createUser(app, isHeld ? { email } : {});
  const code = await emailCodes.find(await emailCodes.issue(database, email));
  const link = await passwordResets.find(await passwordResets.issue(database, email));
  const change = { oldEmail: email, newEmail: mover.email };
  const undo = await undoLinks.find(await undoLinks.issue(database, mover.id, change));
  if (!code || !link || !undo) throw new Error('a code or link is missing');
  const proof = (of = email) => emailCodes.issueProof(database, of);
  return { email, mover, owner, code, link, undo, proof };
}

/** Pairs at once, so that the pool has connections for all. */
const workers = 4;

type Rivals = Awaited<ReturnType<typeof createRivals>>;

/** What anyone can do at an address. */
const ofAddress: Record<string, (rivals: Rivals) => Promise<TestResponse>> = {
  signUp: ({ email }) => accounts.signUp(signUpBody({ email })),
  signUpWithProof: async ({ email, proof }) =>
    accounts.signUp(signUpBody({ email, verification_token: await proof() })),
  sendCode: ({ email }) => accounts.sendCode(email),
  confirmByCode: ({ email, code, owner }) => confirm({ email, code: code.code }, owner.token),
  confirmByLink: ({ code }) => confirm({ token: code.token }),
  requestReset: ({ email }) => accounts.requestReset(email),
  changeTo: ({ email, code, mover }) => changeEmail(mover.token, { new_email: email, code: code.code }),
  undo: ({ undo }) => accounts.undoEmailChange(undo.token),
};

/** What the account that has the address can do, too. */
const ofOwner: typeof ofAddress = {
  ...ofAddress,
  confirmReset: ({ link }) => accounts.confirmReset(link),
  changeFrom: async ({ owner, proof }) => {
    const address = `moved-${owner.email}`;
    return changeEmail(owner.token, { new_email: address, verification_token: await proof(address) });
  },
  changePassword: ({ owner }) => accounts.changePassword(owner.token, owner.password),
  deleteMe: ({ owner: { token, password } }) =>
    app.call('DELETE', '/auth/me/', { token, body: { password } }),
};

t.test('what changes more than one row of an address waits for its lock before it locks a row', async (t) => {
  for (const [name, run] of Object.entries(ofOwner)) {
    const rivals = await createRivals(true);
    const statement = 'SELECT pg_advisory_xact_lock($1, hashtext($2))';
    const lock = await lockRows(t, app, statement, [advisoryLocks.names, rivals.email]);
    const response = run(rivals);
    const waiting = await lock.waiters(1);
    const { rows } = await app.pool.query(
      'SELECT wait_event, backend_xid IS NULL AS "hasNoRow" FROM pg_stat_activity WHERE pid = ANY ($1)',
      [waiting],
    );
    t.strictSame(rows, [{ wait_event: 'advisory', hasNoRow: true }], name);
    await lock.release();
    await response;
  }
});

for (const [what, isHeld, operations] of [
  ['a free address', false, ofAddress],
  [
    'the address of an account',
    true,
    { ...ofOwner, logIn: ({ owner }) => accounts.tryLogin(owner.username) },
  ],
] satisfies [string, boolean, typeof ofAddress][]) {
  t.test(`pairs of operations on ${what} at once do not deadlock`, async (t) => {
    const all = Object.entries(operations);
    const pairs = all.flatMap((one, index) => all.slice(index).map((other) => [one, other] as const));
    await inParallel(workers, async (worker) => {
      for (let index = worker; index < pairs.length; index += workers) {
        const [one, other] = pairs[index] ?? [];
        const rivals = await createRivals(isHeld);
        // Rejected with a status of 500 or more.
        const run = Promise.all([one?.[1](rivals), other?.[1](rivals)]);
        await t.resolves(run, `${one?.[0]} and ${other?.[0]}`);
      }
    });
  });
}
