import { parseUrl, splitList } from './environment.ts';

/** Whether a text is an origin: of a page, or of an app with a scheme of its own, such as `capacitor://localhost`. */
export function isOrigin(text: string): boolean {
  const url = parseUrl(text);
  return url !== undefined && url.host !== '' && `${url.protocol}//${url.host}` === text;
}

/** Of an Android app: the SHA-256 of its signing certificate. */
const androidOrigin = /^android:apk-key-hash:[\w-]{43}$/;

/** Reads a list of origins. They are compared as they are, so a wildcard would match none. @param problems gets what is wrong */
export function readOrigins(
  name: 'CORS_ORIGINS' | 'PASSKEY_ORIGINS',
  value: string,
  problems: string[],
): string[] {
  const origins = splitList(value);
  for (const origin of origins) {
    const isAndroid = name === 'PASSKEY_ORIGINS' && androidOrigin.test(origin);
    if (!isAndroid && (origin.includes('*') || !isOrigin(origin))) {
      problems.push(`${name} holds "${origin}", which is not an origin such as https://app.example.com`);
    }
  }
  return origins;
}
