import { t } from '../text.ts';

/** The page above those of the account. */
export const account = { to: '/account', label: t('계정', 'Account') };

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
