import type { Config } from '../../../infrastructure/config/config.ts';
import type { Sealer } from '../tokens.ts';
import { createApple, createKakao, createNaver } from './clients/adapters.ts';
import { createDevelopmentProvider, type DevelopmentLogin } from './clients/development.ts';
import { createOpenIdProvider, type LoginProvider } from './clients/openid-connect.ts';

/** The configured providers, in their order; with the page of the one for development, where that is among them. */
export function createLoginProviders(
  config: Config,
  sealer: Sealer,
): { providers: LoginProvider[]; developmentLogin: DevelopmentLogin | undefined } {
  let developmentLogin: DevelopmentLogin | undefined;
  const providers = config.loginProviders.map((settings) => {
    if (settings.kind === 'kakao') return createKakao(settings);
    if (settings.kind === 'naver') return createNaver(settings);
    if (settings.kind === 'apple') return createApple(settings);
    if (settings.kind === 'openid') return createOpenIdProvider(settings);
    const { provider, page } = createDevelopmentProvider(settings, config, sealer);
    developmentLogin = page;
    return provider;
  });
  return { providers, developmentLogin };
}
