import type { ComponentChildren } from 'preact';
import { dure } from '../api.ts';
import { useAttempt } from '../hooks/use-attempt.ts';
import { useLoad } from '../hooks/use-load.ts';
import { useLanguage } from '../texts/language.tsx';

/**
 * A button for each provider of the service, in its order. Symbols, colours and texts are those of the design rules of the providers,
 * which their reviews compare.
 */
export function ProviderButtons({ returnTo }: { returnTo: string }) {
  const { t, language } = useLanguage();
  const attempt = useAttempt();
  const providers = useLoad((signal) => dure.auth.listLoginProviders({}, { signal }), [language]);
  return providers.value?.items.map(({ id, name }) => (
    <button
      key={id}
      type="button"
      class={`button wide provider ${id}`}
      onClick={() => attempt(() => dure.auth.loginWith(id, { returnTo }))}
    >
      {symbols[id]}
      {t.logIn.with[id] ?? name}
    </button>
  ));
}

function BrandSymbol({ viewBox, children }: { viewBox: string; children: ComponentChildren }) {
  return (
    <svg aria-hidden="true" viewBox={viewBox} fill="currentColor">
      {children}
    </svg>
  );
}

const symbols: Partial<Record<string, ComponentChildren>> = {
  kakao: (
    <BrandSymbol viewBox="0 0 24 24">
      <path
        fill="#000"
        d="M12 2.5c-5.8 0-10.5 3.66-10.5 8.17 0 2.92 1.96 5.48 4.9 6.92l-1 3.7c-.09.33.28.59.57.4l4.4-2.93c.53.06 1.08.08 1.63.08 5.8 0 10.5-3.66 10.5-8.17S17.8 2.5 12 2.5z"
      />
    </BrandSymbol>
  ),
  naver: (
    <BrandSymbol viewBox="-3 -3 30 30">
      <path d="M16.27 12.85 7.38 0H0v24h7.73V11.16L16.62 24H24V0h-7.73z" />
    </BrandSymbol>
  ),
  google: (
    <BrandSymbol viewBox="0 0 48 48">
      <path
        fill="#ea4335"
        d="M24 9.5c3.54 0 6.71 1.22 9.21 3.6l6.85-6.85C35.9 2.38 30.47 0 24 0 14.62 0 6.51 5.38 2.56 13.22l7.98 6.19C12.43 13.72 17.74 9.5 24 9.5z"
      />
      <path
        fill="#4285f4"
        d="M46.98 24.55c0-1.57-.15-3.09-.38-4.55H24v9.02h12.94c-.58 2.96-2.26 5.48-4.78 7.18l7.73 6c4.51-4.18 7.09-10.36 7.09-17.65z"
      />
      <path
        fill="#fbbc05"
        d="M10.53 28.59c-.48-1.45-.76-2.99-.76-4.59s.27-3.14.76-4.59l-7.98-6.19C.92 16.46 0 20.12 0 24s.92 7.54 2.56 10.78l7.97-6.19z"
      />
      <path
        fill="#34a853"
        d="M24 48c6.48 0 11.93-2.13 15.89-5.81l-7.73-6c-2.15 1.45-4.92 2.3-8.16 2.3-6.26 0-11.57-4.22-13.47-9.91l-7.98 6.19C6.51 42.62 14.62 48 24 48z"
      />
    </BrandSymbol>
  ),
  apple: (
    <BrandSymbol viewBox="0 0 24 24">
      <path d="M12.15 6.9c-.95 0-2.41-1.08-3.96-1.04-2.04.03-3.91 1.18-4.96 3.01-2.12 3.68-.55 9.1 1.52 12.09 1.01 1.45 2.21 3.09 3.79 3.04 1.52-.07 2.09-.99 3.94-.99 1.83 0 2.35.99 3.96.95 1.63-.03 2.67-1.48 3.67-2.95 1.16-1.69 1.64-3.33 1.66-3.42-.04-.01-3.18-1.22-3.22-4.86-.03-3.04 2.48-4.49 2.6-4.56-1.43-2.09-3.62-2.32-4.39-2.38-2-.16-3.67 1.1-4.61 1.1zm3.38-3.07C16.37 2.82 16.93 1.4 16.78 0c-1.21.05-2.66.8-3.54 1.82-.78.9-1.45 2.34-1.27 3.71 1.34.1 2.71-.69 3.56-1.7" />
    </BrandSymbol>
  ),
};
