import t from 'tap';
import { eachOperation, notRejected, operations, unknownPath, validBody } from '../http/operations.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { contract, type DocumentedOperation } from '../support/contract.ts';
import { passConfirmation, secondFactorOf } from './authenticator.ts';
import { developmentLogin } from './development-login.ts';

/*
 * What only the owner of an account may do: every operation that is documented to do so asks for a recent confirmation, and does
 * nothing between an undone change of email and the reset of the password.
 */

const withCode = (code: string) =>
  operations.filter((one) => one.path.startsWith('/auth/') && contract.codesOf(one, '403').includes(code));

/** They take the password; `undo-email-change.test.ts` and `confirmation.test.ts` have them. */
const withPassword = /^(?:deleteCurrentUser|changePassword|changeEmail|confirmUser)$/;

t.test('owner operations ask for a confirmation, and wait for the reset after an undo', async (t) => {
  const app = await createTestApp();
  const user = await createUser(app);
  await secondFactorOf(app).switchOn(user);
  const login = await developmentLogin(app, { subject: 'another' }, { purpose: 'link', token: user.token });
  const bodies: Record<string, unknown> = {
    changeEmail: { new_email: 'elsewhere@example.com', code: '123456' },
    deleteCurrentUser: {},
    startProviderLogin: { purpose: 'link' },
    finishProviderLogin: login.body,
  };
  const rejectedAs = (code: string) => async (operation: DocumentedOperation) => {
    const { method, path, operationId } = operation;
    const url = unknownPath({ ...operation, path: path.replace('{provider}', 'development') });
    const body = bodies[operationId] ?? validBody(operation);
    return notRejected(await app.call(method, url, { token: user.token, body }), 403, code);
  };
  await app.pool.query('UPDATE users SET password_hash = NULL WHERE id = $1', [user.id]);
  await passConfirmation(app, user);
  await eachOperation(t, withCode('confirmation_required'), 14, rejectedAs('confirmation_required'));
  await app.pool.query('UPDATE users SET needs_reset = true WHERE id = $1', [user.id]);
  const others = withCode('forbidden').filter(({ operationId }) => !withPassword.test(operationId));
  await eachOperation(t, others, 12, rejectedAs('forbidden'));
});
