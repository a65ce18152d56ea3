import type { Tx } from '../database/client.ts';
import type { PageRequest } from '../database/keyset.ts';

/** A live session, as the operator sees it. */
export interface AccountSession {
  id: string;
  user_agent: string;
  ip: string;
  created_at: Date;
  last_used_at: Date;
}

/** What the authentication domain does for operators; passed in `domains.ts`. */
export interface AccountAdministration {
  listSessions(tx: Tx, userId: number, page: PageRequest): Promise<AccountSession[]>;
  endSessions(tx: Tx, userId: number): Promise<void>;
  /** Deletes an account as by its owner. @returns whether it existed */
  deleteAccount(tx: Tx, userId: number): Promise<boolean>;
}
