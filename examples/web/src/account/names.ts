import { m } from '../paraglide/messages.js';

export const account = () => ({ to: '/account', label: m.account() });

const methodNames: Partial<Record<string, () => string>> = {
  password: m.password,
  passkey: m.passkey,
  totp: m.authenticator_app,
  recovery_code: m.recovery_code,
  kakao: m.kakao,
  naver: m.naver,
  google: () => 'Google',
  apple: () => 'Apple',
  development: m.development_login,
};

export const nameOfMethod = (id: string): string => methodNames[id]?.() ?? id;

/** In this order, because most browsers also name the ones that they descend from. */
const browsers = ['SamsungBrowser', 'Whale', 'KAKAOTALK', 'Edg', 'Firefox|FxiOS', 'Chrome|CriOS', 'Safari'];
const systems = ['iPhone', 'iPad', 'Android', 'Windows', 'Macintosh', 'Linux'];
const spelled: Partial<Record<string, string>> = { KAKAOTALK: 'KakaoTalk', Edg: 'Edge', Macintosh: 'Mac' };

/** Browser and system, as far as the `User-Agent` names them. */
export function describeDevice(userAgent: string): string {
  const found = [browsers, systems].flatMap(
    (names) => names.find((name) => new RegExp(name).test(userAgent))?.split('|')[0] ?? [],
  );
  return found.map((name) => spelled[name] ?? name).join(' · ') || userAgent;
}
