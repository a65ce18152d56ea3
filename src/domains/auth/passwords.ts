import { dictionary } from '@zxcvbn-ts/language-common';
import argon2 from 'argon2';
import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import { Histogram } from 'prom-client';
import { invalidFields, serviceUnavailable } from '../../http/errors.ts';
import { type FieldError, limitProblems, type Problem } from '../../http/field-errors.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';

/** Hashes that may wait: at about 30 ms each they take seconds, more would only time out. Logins find room beside all others. */
const maxWaiting = { login: 256, other: 128 };
/** Hashes of one user or one address that may wait. A /48 of IPv6 has the limits of ten addresses. */
const maxWaitingOfOne = 2;
/** Milliseconds after a request of a logged-in user in which one core is left to the event loop. */
const yieldTime = 250;

interface HashRequest {
  clientAddress: string;
  clientNetwork: string;
  userId?: number | undefined;
  /** A login is served before all others. */
  isLogin?: boolean;
}

const commonPasswords = new Set(dictionary['passwords-common']);
const sequences = '01234567890\n09876543210\nabcdefghijklmnopqrstuvwxyz\nzyxwvutsrqponmlkjihgfedcba';

/** The list lacks passwords that are found by pattern: one repeated character, and letters or digits in sequence. */
function isCommon(lowerCased: string): boolean {
  const isPattern = /^(.)\1*$/su.test(lowerCased) || sequences.includes(lowerCased);
  return isPattern || commonPasswords.has(lowerCased);
}

const passwordProblems = {
  common: {
    code: 'password_too_common',
    text: {
      ko: '너무 흔한 비밀번호입니다. 다른 비밀번호를 입력해 주세요.',
      en: 'This password is too common.',
    },
  },
  identity: {
    code: 'password_contains_identity',
    text: {
      ko: '비밀번호에 아이디나 이메일 주소를 넣을 수 없습니다.',
      en: 'Must contain neither the username nor the email address.',
    },
  },
} satisfies Record<string, Problem>;

type NewPassword = { field: string; password: string; account: { username: string; email: string } };

/** Hashes and checks passwords with argon2id (RFC 9106; parameters of the OWASP password storage cheat sheet). */
export function createPasswords(options: { config: Config; logger: FastifyBaseLogger; metrics: Metrics }) {
  const { logger, metrics } = options;
  const { password: config, rateLimitEnabled } = options.config;
  const queue = new PQueue({ concurrency: config.maxConcurrentHashes });
  const useAllCores = setTimeout(() => (queue.concurrency = config.maxConcurrentHashes), yieldTime).unref();
  const waiting = new Set<HashRequest>();
  const parameters = {
    type: argon2.argon2id,
    memoryCost: config.memoryCost,
    timeCost: config.timeCost,
    parallelism: 1,
  } as const;

  const duration = new Histogram({
    name: 'password_hashing_duration_seconds',
    help: 'Time of computing one password hash, without waiting for its turn',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [metrics.registry],
  });
  metrics.addGauge('password_hashing_active', 'Passwords that are being hashed', () => queue.pending);
  metrics.addGauge('password_hashing_waiting', 'Passwords that wait to be hashed', () => queue.size);

  function queued<Result>(request: HashRequest, work: () => Promise<Result>): Promise<Result> {
    const { isLogin = false } = request;
    if (queue.size >= maxWaiting[isLogin ? 'login' : 'other'] || isCrowded(request)) {
      throw serviceUnavailable(new Error('too many password hashes are waiting'));
    }
    waiting.add(request);
    const run = () => {
      waiting.delete(request);
      const end = duration.startTimer();
      return work().finally(() => end());
    };
    return queue.add(run, { priority: isLogin ? 1 : 0 });
  }

  function isCrowded({ clientAddress, clientNetwork, userId }: HashRequest): boolean {
    if (!rateLimitEnabled) return false;
    const count = (isSame: (other: HashRequest) => boolean) => [...waiting].filter(isSame).length;
    const ofAddress = count((other) => other.clientAddress === clientAddress);
    const ofNetwork = count((other) => other.clientNetwork === clientNetwork);
    const ofUser = count((other) => userId !== undefined && other.userId === userId);
    return Math.max(ofAddress, ofUser, ofNetwork / 10) >= maxWaitingOfOne;
  }

  // Against which a password for a name without an account is verified: a salt and a hash of zeros.
  const cost = `m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}`;
  const dummyHash = `$argon2id$v=19$${cost}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

  return {
    /** Checks a new password as the schema cannot (NIST SP 800-63B, section 3.1.1.2). @param others what else is wrong */
    checkNew({ field, password, account }: NewPassword, others: FieldError[] = []): void {
      const lowerCased = password.toLowerCase();
      const localPart = account.email.split('@')[0] ?? '';
      const found: Problem[] = [];
      if ([...password].length < config.minLength) found.push(limitProblems.minLength(config.minLength));
      if (isCommon(lowerCased)) found.push(passwordProblems.common);
      const identities = [account.username, ...(localPart.length >= 4 ? [localPart] : [])];
      if (identities.some((one) => lowerCased.includes(one))) found.push(passwordProblems.identity);
      const errors = [...found.map((problem) => ({ field, ...problem })), ...others];
      if (errors.length > 0) throw invalidFields(errors);
    },

    /** Leaves one core, where there are more, to other requests for a while: they would wait milliseconds for hashes at each step. */
    yieldToRequests(): void {
      queue.concurrency = Math.max(1, config.maxConcurrentHashes - 1);
      useAllCores.refresh();
    },

    hash: async (password: string, request: HashRequest) =>
      queued(request, () => argon2.hash(password, parameters)),

    /** Whether a password matches the hash of an account. Takes the same time for a name without an account. */
    async verify(hash: string | undefined, password: string, request: HashRequest) {
      return queued(request, async () => {
        try {
          return (await argon2.verify(hash ?? dummyHash, password)) && hash !== undefined;
        } catch (error) {
          logger.error({ err: error }, 'a stored password hash cannot be read');
          return false;
        }
      });
    },

    needsRehash: (hash: string): boolean => argon2.needsRehash(hash, parameters),
  };
}
