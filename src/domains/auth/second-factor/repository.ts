import { createHash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { type Sealer, sealAgain } from '../secrets.ts';

/** The only parameters that all authenticator apps know (RFC 6238). */
const parameters = { issuer: 'Dure', algorithm: 'SHA1', digits: 6, period: 30 };
/** Steps before and after the current one, for clocks that differ. */
const window = 1;
const recoveryCodeCount = 10;

/** Secrets of authenticator apps, and recovery codes. The rows reveal none of them. */
export function createSecondFactorRepository(database: Database, sealer: Sealer) {
  const isOn = async (tx: Tx, userId: number) =>
    (await tx.prisma.secondFactor.count({ where: { userId, confirmedAt: { not: null } } })) > 0;

  /** The account must be locked. @param confirmedAt now, for a secret that is not confirmed yet @throws {ApiError} `service_unavailable` */
  async function useCode(tx: Tx, userId: number, code: string, confirmedAt?: Date): Promise<boolean> {
    const found = { userId, confirmedAt: confirmedAt ? null : { not: null } };
    const factor = await tx.prisma.secondFactor.findFirst({ where: found });
    if (factor === null) return false;
    const name = `the second factor of user ${userId}`;
    const secret = sealer.unsealNeeded(factor.secret, contextOf(userId), name);
    const totp = new TOTP({ ...parameters, secret });
    const timestamp = Date.now();
    const delta = totp.validate({ token: code, window, timestamp });
    const step = totp.counter({ timestamp }) + (delta ?? 0);
    if (delta === null || factor.usedSteps.includes(step)) return false;
    // More than can be accepted at one time, also where the clocks of instances differ.
    const usedSteps = [...factor.usedSteps, step].slice(-10);
    await tx.prisma.secondFactor.updateMany({
      where: found,
      data: { usedSteps, ...(confirmedAt && { confirmedAt }) },
    });
    return true;
  }

  return {
    isOn,

    status(userId: number) {
      const factor = { confirmedAt: true, _count: { select: { recoveryCodes: true } } } as const;
      const select = { secondFactor: { select: factor }, _count: { select: { passkeys: true } } } as const;
      return database.prisma.user.findFirst({ where: { id: userId }, select });
    },

    /** Saves a new secret, in place of one that is not confirmed. The account must be locked. */
    async begin(tx: Tx, userId: number, username: string) {
      const totp = new TOTP({ ...parameters, label: username, secret: new Secret() });
      const secret = totp.secret.base32;
      const data = { secret: sealer.seal(secret, contextOf(userId)) };
      await tx.prisma.secondFactor.upsert({ where: { userId }, create: { userId, ...data }, update: data });
      return { secret, uri: totp.toString() };
    },

    /** Switches the second factor on, and uses the code. @returns false for a wrong code, or without a secret */
    confirm: (tx: Tx, userId: number, code: string) => useCode(tx, userId, code, new Date()),

    /** Uses a recovery code, or a code of the app of whose time step none was used. The account must be locked. */
    async use(tx: Tx, userId: number, given: string) {
      const code = given.toLowerCase();
      if (/^\d{6}$/.test(code)) return (await useCode(tx, userId, code)) ? 'totp' : undefined;
      const where = { userId, hash: hashOf(userId, code) };
      return (await tx.prisma.recoveryCode.deleteMany({ where })).count > 0 ? 'recovery_code' : undefined;
    },

    async replaceRecoveryCodes(tx: Tx, userId: number): Promise<string[]> {
      const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode);
      await tx.prisma.recoveryCode.deleteMany({ where: { userId } });
      const data = codes.map((code) => ({ userId, hash: hashOf(userId, code) }));
      await tx.prisma.recoveryCode.createMany({ data });
      return codes.map((code) => code.replace(/.{4}(?!$)/g, '$&-'));
    },

    sealAgain: () =>
      sealAgain(database, sealer, {
        table: 'second_factors',
        find: (pages, prefix) =>
          database.query<{ userId: number; sealed: string }>(sql`/* auth.findSecretsToSeal */
            SELECT user_id AS "userId", secret AS sealed FROM second_factors
            WHERE ${pages} AND NOT starts_with(secret, ${prefix})`),
        contextOf: ({ userId }) => contextOf(userId),
        save: ({ userId, sealed: secret }, next) =>
          database.prisma.secondFactor.updateMany({ where: { userId, secret }, data: { secret: next } }),
      }),

    /** Removes the second factor with its recovery codes. @returns whether it was on */
    async remove(tx: Tx, userId: number): Promise<boolean> {
      const confirmed = { userId, confirmedAt: { not: null } };
      const { count } = await tx.prisma.secondFactor.deleteMany({ where: confirmed });
      await tx.prisma.secondFactor.deleteMany({ where: { userId } });
      return count > 0;
    },
  };
}

const contextOf = (userId: number) => `totp:${userId}`;

/** 80 bits: 16 characters of base32. */
const newRecoveryCode = () =>
  new Secret({ buffer: new Uint8Array(randomBytes(10)).buffer }).base32.toLowerCase();

/** A fast hash is enough for 80 random bits, and no rotation of JWT_SECRET voids it. */
const hashOf = (userId: number, recoveryCode: string) =>
  createHash('sha256').update(`${userId}:${recoveryCode}`).digest('hex');
