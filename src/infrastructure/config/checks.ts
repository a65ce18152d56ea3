import { parseUrl, textsOf } from './readers.ts';

/** What is missing, or too much, beside other variables. One that is set and wrong counts as set. */
export function findConflicts(source: NodeJS.ProcessEnv): string[] {
  const isSet = (name: string) => Boolean(source[name]);
  const ofBucket = ['S3_ENDPOINT', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'].filter(isSet);
  const alone = (one: string, other: string) => ({
    [`${one} and ${other} must be set together, or neither`]: isSet(one) !== isSet(other),
  });
  return textsOf({
    [`S3_BUCKET must be set with ${ofBucket.join(', ')}`]: ofBucket.length > 0 && !isSet('S3_BUCKET'),
    'MEDIA_BASE_URL must be set with S3_BUCKET: the URL under which browsers find the bucket':
      isSet('S3_BUCKET') && !isSet('MEDIA_BASE_URL'),
    'S3_REGION must be set with S3_BUCKET, unless S3_ENDPOINT is':
      isSet('S3_BUCKET') && !isSet('S3_REGION') && !isSet('S3_ENDPOINT'),
    ...alone('S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'),
    'TERMS_VERSION must be set with PRIVACY_VERSION': isSet('PRIVACY_VERSION') && !isSet('TERMS_VERSION'),
    ...alone('TERMS_VERSION', 'TERMS_URL'),
    ...alone('PRIVACY_VERSION', 'PRIVACY_URL'),
    'JWT_PRIVATE_KEY and JWT_PRIVATE_KEY_FILE must not both be set':
      isSet('JWT_PRIVATE_KEY') && isSet('JWT_PRIVATE_KEY_FILE'),
  });
}

/** Parts of passwords that are guessed first. */
const commonPassword =
  /admin|change|database|default|example|passw[o0]rd|postgres|secret|qwerty|abcdef|123456/i;

/** Warns about passwords of the database that are missing or common. The values are compared as they are in the URL. */
export function findWeakPasswords(texts: Record<string, string | undefined>): string[] {
  return ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL']
    .filter((name) => {
      const url = parseUrl(texts[name]);
      // Without a host it is a socket on this machine, where PostgreSQL checks the system's user.
      if (!url || url.hostname === '') return false;
      const { username, password, pathname } = url;
      const isName = [username, pathname.slice(1)].some(
        (known) => known.toLowerCase() === password.toLowerCase(),
      );
      return password.length < 8 || isName || commonPassword.test(password);
    })
    .map((name) => `${name} has no password or a common one: use a long random one`);
}
