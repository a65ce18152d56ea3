import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError } from '../../../http/errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import type { AuthContext } from '../context.ts';
import { authErrors } from '../errors.ts';
import type { ProviderClient } from './clients/openid-connect.ts';
import type { IdentityRow, ProviderIdentity } from './repository.ts';
import { type Identity, toIdentity } from './schemas.ts';

/** The payload of a job. */
const Revocation = Type.Object({ provider: Type.String(), token: Type.String() });

export type IdentityService = ReturnType<typeof createIdentities>;

/** Connects accounts with identities at providers. */
export function createIdentities(auth: AuthContext, providers: readonly ProviderClient[]) {
  const { database, accounts, identities, flows, sealer, confirmation } = auth;

  /** A refresh token of a provider as it is stored. */
  const sealToken = (provider: string, token: string) => sealer.seal(token, tokenContext(provider));

  /** @throws {ApiError} `identity_taken` */
  async function addTo(tx: Tx, userId: number, identity: ProviderIdentity): Promise<IdentityRow> {
    const added = await identities.add(tx, userId, identity);
    if (added === undefined) throw new ApiError(authErrors.identityTaken);
    return added;
  }

  /** @throws {ApiError} `identity_taken`, `token_not_valid` */
  async function add(user: CurrentUser, identity: ProviderIdentity, context: RequestContext) {
    const change = { user, context, change: 'added', method: 'identity' } as const;
    const { row } = await confirmation.change(change, async (tx) => {
      const row = await addTo(tx, user.id, identity);
      return { row, label: labelOf(row, context) };
    });
    return toIdentity(row);
  }

  /**
   * Adds the identity of a `link_token` to the account whose address it has.
   *
   * @throws {ApiError} `link_token_invalid`, `confirmation_required`, `identity_taken`
   */
  async function addByToken(user: CurrentUser, token: string, context: RequestContext): Promise<Identity> {
    await confirmation.require(user);
    const flow = await flows.lock<ProviderIdentity>(database, 'link', token);
    if (flow?.userId !== user.id || !(await flows.end(database, 'link', token))) {
      throw new ApiError(authErrors.linkTokenInvalid);
    }
    return add(user, flow.data, context);
  }

  /** @throws {ApiError} `identity_not_found`, `last_login_method`, `confirmation_required` */
  async function remove(user: CurrentUser, id: number, context: RequestContext): Promise<void> {
    const change = { user, context, change: 'removed', method: 'identity' } as const;
    await confirmation.change(change, async (tx) => {
      const identity = await identities.find(tx, user.id, id);
      if (identity === null) throw new ApiError(authErrors.identityNotFound);
      if (!(await accounts.hasOtherLoginMethod(tx, user.id))) throw new ApiError(authErrors.lastLoginMethod);
      await identities.queueRevocations(tx, user.id, id);
      await identities.remove(tx, id);
      return { label: labelOf(identity, context) };
    });
  }

  const labelOf = ({ provider }: IdentityRow, { language }: RequestContext) =>
    providers.find(({ id }) => id === provider)?.name[language] ?? provider;

  /**
   * A job: takes back the consent to a provider, after its identity was removed.
   *
   * @throws when the provider has not done it; then it is tried again
   */
  async function revoke(payload: unknown): Promise<void> {
    const { provider: id, token: sealed } = Value.Parse(Revocation, payload);
    const provider = providers.find((one) => one.id === id);
    // Without the secret of its time there is nothing to do.
    const token = sealer.unseal(sealed, tokenContext(id));
    if (token === undefined) return;
    await provider?.revoke?.(token).catch((error: unknown) => {
      // The refresh token ended with the consent (RFC 6749, section 5.2).
      const isOver = error instanceof ApiError && String(error.cause).includes('invalid_grant');
      if (!isOver) throw error;
    });
  }

  return { list: identities.list, sealToken, addTo, add, addByToken, remove, revoke };
}

const tokenContext = (provider: string) => `refresh token of ${provider}`;
