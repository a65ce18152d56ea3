import type { Config } from '../config/config.ts';
import type { Database, Tx } from '../database/client.ts';
import type { Idempotency } from '../http/idempotency.ts';
import type { MailQueue } from '../mail/queue.ts';
import type { Passwords } from './passwords.ts';
import type { Accounts } from './repository/accounts.ts';
import type { EmailCodes } from './repository/email-codes.ts';
import type { LoginFailures } from './repository/login-failures.ts';
import type { MailSends } from './repository/mail-sends.ts';
import type { PasswordResets } from './repository/password-resets.ts';
import type { Sessions } from './repository/sessions.ts';
import type { Tokens } from './tokens.ts';

/** What `app.ts` passes to this domain. */
export interface AuthOptions {
  config: Config;
  database: Database;
  mailQueue: MailQueue;
  idempotency: Idempotency;
  /** Deletes what an account has in other domains, before the account itself is deleted in the same transaction. */
  deleteAccountData(tx: Tx, userId: number): Promise<void>;
}

/** What the services of this domain work with; `index.ts` builds it. */
export interface AuthDependencies extends AuthOptions {
  tokens: Tokens;
  passwords: Passwords;
  accounts: Accounts;
  sessions: Sessions;
  emailCodes: EmailCodes;
  passwordResets: PasswordResets;
  mailSends: MailSends;
  loginFailures: LoginFailures;
}
