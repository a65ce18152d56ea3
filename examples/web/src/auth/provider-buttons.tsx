import { useObject } from '@dure/react';
import { dure } from '../api.ts';
import { t } from '../text.ts';
import { Button } from '../ui/index.ts';

/** Texts, and the symbols in public/login, as the design rules of the providers want them; their reviews compare. */
const branded: Partial<Record<string, string>> = {
  kakao: t('카카오 로그인', 'Login with Kakao'),
  naver: t('네이버 로그인', 'Log in with Naver'),
  google: t('Google 계정으로 로그인', 'Sign in with Google'),
  apple: t('Apple로 로그인', 'Sign in with Apple'),
};

/** Logs in with a provider; where that login has no account yet, its sign-up comes next. */
export function ProviderButtons({ returnTo }: { returnTo?: string }) {
  const providers = useObject(dure.auth.listLoginProviders).data?.items ?? [];
  if (providers.length === 0) return null;
  return (
    <>
      <p className="divider">{t('또는', 'or')}</p>
      {providers.map(({ id, name }) => (
        <Button
          key={id}
          look={`wide provider ${id}`}
          icon={branded[id] && <img src={`/login/${id}.svg`} alt="" />}
          label={branded[id] ?? name}
          onClick={() => dure.auth.loginWith(id, { returnTo })}
        />
      ))}
    </>
  );
}
