import { dictionary } from '@zxcvbn-ts/language-common';
import argon2 from 'argon2';
import type { FastifyBaseLogger } from 'fastify';
import pLimit from 'p-limit';
import type { Config } from '../config/config.ts';
import { ApiError, type FieldTexts, httpErrors } from '../http/errors.ts';
import type { Text } from '../http/language.ts';

/** How many hashes may wait. At about 30 ms each they are through in seconds; more would only time out. */
const maxWaiting = 256;

export type Passwords = Awaited<ReturnType<typeof createPasswords>>;

/** Hashes and checks passwords with argon2id (RFC 9106; parameters of the OWASP password storage cheat sheet). */
export async function createPasswords(config: Config['password'], logger: FastifyBaseLogger) {
  const limit = pLimit(config.hashesAtOnce);
  const options = {
    type: argon2.argon2id,
    memoryCost: config.memoryCost,
    timeCost: config.timeCost,
    parallelism: 1,
  } as const;

  function queued<Result>(work: () => Promise<Result>): Promise<Result> {
    if (limit.pendingCount >= maxWaiting) {
      throw new ApiError(httpErrors.serviceUnavailable, {
        cause: new Error('the password hashing queue is full'),
        headers: { 'retry-after': '5' },
      });
    }
    return limit(work);
  }

  // What a password is compared with when there is no account: it takes as long as a real one.
  const nobody = await argon2.hash('nobody has this password', options);

  return {
    /** @throws {ApiError} `service_unavailable` when too many hashes wait already */
    hash: async (password: string): Promise<string> => queued(() => argon2.hash(password, options)),

    /**
     * Whether a password is the right one. Takes the same time whether there is a hash or not.
     *
     * @throws {ApiError} `service_unavailable` when too many hashes wait already
     */
    async verify(hash: string | undefined, password: string): Promise<boolean> {
      return queued(async () => {
        try {
          return (await argon2.verify(hash ?? nobody, password)) && hash !== undefined;
        } catch (error) {
          logger.error({ err: error }, 'a stored password hash cannot be read');
          return false;
        }
      });
    },

    /** Whether a hash was made with other parameters than the present ones. */
    needsRehash: (hash: string): boolean => argon2.needsRehash(hash, options),
  };
}

const commonPasswords = new Set(dictionary['passwords-common']);

const runs = ['01234567890', 'abcdefghijklmnopqrstuvwxyz'].flatMap((run) => [
  run,
  [...run].reverse().join(''),
]);

/** The list leaves out what its makers find by pattern: one character up to twelve times, and letters or digits in their order. */
function isCommon(folded: string): boolean {
  return (
    commonPasswords.has(folded) || /^(.)\1{0,11}$/u.test(folded) || runs.some((run) => run.includes(folded))
  );
}

const texts = {
  short: (minimum: number): Text => ({
    ko: `${minimum}자 이상이어야 합니다.`,
    en: `Must have at least ${minimum} characters.`,
  }),
  common: { ko: '너무 흔한 비밀번호입니다.', en: 'This password is too common.' },
  username: { ko: '비밀번호에 아이디를 넣을 수 없습니다.', en: 'Must not contain the username.' },
  email: { ko: '비밀번호에 이메일 주소를 넣을 수 없습니다.', en: 'Must not contain the e-mail address.' },
};

/**
 * Checks a new password against what the schema cannot know (NIST SP 800-63B, section 3.1.1.2: a list of common passwords and
 * context, no composition rules).
 *
 * @param field the name under which the password came in
 * @returns the texts of a validation error; empty when the password is good
 */
export function passwordProblems(
  field: string,
  password: string,
  account: { username: string; email: string },
  minLength: number,
): FieldTexts {
  const folded = password.toLowerCase();
  const localPart = account.email.split('@')[0] ?? '';
  const problems: Text[] = [];
  if ([...password].length < minLength) problems.push(texts.short(minLength));
  if (isCommon(folded)) problems.push(texts.common);
  if (folded.includes(account.username)) problems.push(texts.username);
  if (localPart.length >= 4 && folded.includes(localPart)) problems.push(texts.email);
  return problems.length > 0 ? { [field]: problems } : {};
}
