import { createHmac } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Secret } from '../../infrastructure/config/config.ts';

/** The parameters of a hash as they stand in it, such as `m=19456,t=2,p=1`, and how many accounts have them. */
export interface HashCost {
  cost: string;
  accounts: number;
}

/** What {@link createDummyHashes} needs. */
export interface DummyHashOptions {
  /** The configured parameters. */
  currentCost: string;
  /** Keys the choice, so that a client cannot compute which parameters a name would get. */
  secret: Secret;
  /** Those of all accounts. */
  findCosts(): Promise<HashCost[]>;
  hash(cost: string): Promise<string>;
  logger: FastifyBaseLogger;
}

/** Milliseconds from one count of the accounts to the next, at least. */
const refreshInterval = 60_000;
/** At most this share of the time is spent on counting. */
const refreshShare = 0.01;

/** What argon2 accepts, in the order in which it writes it. */
const wellFormed = /^m=\d{4,7},t=\d{1,3},p=\d{1,2}$/;

/**
 * Hashes against which passwords are verified for names without an account, so that they take the time of an account. Accounts
 * keep the parameters of their last login after the configured ones were raised. So a name without an account gets one of
 * the sets in use, always the same one, and each set as often as accounts have it: a slow or a fast response is as likely
 * with an account as without.
 *
 * Counting the sets reads all accounts, about half a second for a million. So it is done at the first login and from then on
 * at most once a minute, in the background: the shares change slowly, as accounts log in after the parameters were raised.
 */
export function createDummyHashes({ currentCost, secret, findCosts, hash, logger }: DummyHashOptions) {
  const hashes = new Map<string, Promise<string>>();
  let costs: Promise<HashCost[]> | undefined;
  let refreshAt = 0;

  /** @param name as it was typed, lower-cased */
  async function find(name: string): Promise<string> {
    const cost = choose(await currentCosts(), shareOf(name)) ?? currentCost;
    const known = hashes.get(cost) ?? hash(cost);
    hashes.set(cost, known);
    // After a failure, such as a full queue, the next attempt hashes again.
    known.catch(() => hashes.delete(cost));
    return known;
  }

  function currentCosts(): Promise<HashCost[]> {
    const now = Date.now();
    if (costs !== undefined && now < refreshAt) return costs;
    refreshAt = now + refreshInterval;
    const previous = costs ?? Promise.resolve([]);
    const next = countCosts(now).catch((error: unknown) => {
      logger.warn({ err: error }, 'the parameters of the password hashes cannot be counted');
      return previous;
    });
    if (costs === undefined) costs = next;
    else void next.then(() => (costs = next));
    return costs;
  }

  /** The configured parameters come last: as their share grows, names change from older ones to them, as accounts do. */
  async function countCosts(startedAt: number): Promise<HashCost[]> {
    const found = (await findCosts()).filter(({ cost }) => wellFormed.test(cost));
    const duration = Date.now() - startedAt;
    refreshAt = startedAt + Math.max(refreshInterval, duration / refreshShare);
    const isOld = ({ cost }: HashCost) => Number(cost !== currentCost);
    return found.sort((one, other) => isOld(other) - isOld(one) || (one.cost < other.cost ? -1 : 1));
  }

  /** A number from 0 to 1 that belongs to a name. */
  function shareOf(name: string): number {
    const digest = createHmac('sha256', secret.key).update(`dure dummy hash:${name}`).digest();
    return digest.readUIntBE(0, 6) / 2 ** 48;
  }

  return { find };
}

/** The set of parameters that a share of all accounts falls into, in proportion to how many accounts have each. */
function choose(costs: HashCost[], share: number): string | undefined {
  let rest = share * costs.reduce((sum, { accounts }) => sum + accounts, 0);
  for (const { cost, accounts } of costs) {
    if (rest < accounts) return cost;
    rest -= accounts;
  }
  return undefined;
}
