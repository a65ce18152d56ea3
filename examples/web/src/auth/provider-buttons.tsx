import { useObject } from '@dure/react';
import { dure } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { Button } from '../ui/index.ts';
import './provider-buttons.css';

/** Texts, and the symbols in public/login, as the design rules of the providers want them; their reviews compare. */
const branded: Partial<Record<string, () => string>> = {
  kakao: m.login_with_kakao,
  naver: m.log_in_with_naver,
  google: m.sign_in_with_google,
  apple: m.sign_in_with_apple,
};

/** Logs in with a provider; where that login has no account yet, its sign-up comes next. */
export function ProviderButtons({ returnTo }: { returnTo?: string }) {
  const providers = useObject(dure.auth.listLoginProviders).data?.items ?? [];
  if (providers.length === 0) return null;
  return (
    <>
      <p className="divider">{m.or()}</p>
      {providers.map(({ id, name }) => (
        <Button
          key={id}
          look={`wide provider ${id}`}
          icon={branded[id] && <img src={`/login/${id}.svg`} alt="" />}
          label={branded[id]?.() ?? name}
          onClick={() => dure.auth.loginWith(id, { returnTo })}
        />
      ))}
    </>
  );
}
