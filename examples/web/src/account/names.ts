import { t } from '../text.ts';

const methodNames: Partial<Record<string, string>> = {
  password: t('비밀번호', 'password'),
  passkey: t('패스키', 'passkey'),
  totp: t('인증 앱', 'authenticator app'),
  recovery_code: t('복구 코드', 'recovery code'),
  kakao: t('카카오', 'Kakao'),
  naver: t('네이버', 'Naver'),
  google: 'Google',
  apple: 'Apple',
  development: t('개발용 로그인', 'development login'),
};

/** A way to log in. */
export const nameOfMethod = (id: string): string => methodNames[id] ?? id;

/** In this order, because most browsers also name the ones that they descend from. */
const browsers = {
  SamsungBrowser: 'Samsung Internet',
  Whale: 'Whale',
  KAKAOTALK: 'KakaoTalk',
  Edg: 'Edge',
  'Firefox|FxiOS': 'Firefox',
  'Chrome|CriOS': 'Chrome',
  Safari: 'Safari',
};
const systems = {
  iPhone: 'iPhone',
  iPad: 'iPad',
  Android: 'Android',
  Windows: 'Windows',
  Macintosh: 'Mac',
  Linux: 'Linux',
};

/** Browser and system, as far as the `User-Agent` names them. */
export function describeDevice(userAgent: string): string {
  const find = (names: Record<string, string>) =>
    Object.entries(names).find(([pattern]) => new RegExp(pattern).test(userAgent))?.[1];
  const known = [find(browsers), find(systems)].filter(Boolean).join(' · ');
  return known || userAgent || t('알 수 없는 기기', 'Unknown device');
}
