import { Page } from '../components/page.tsx';
import { useLanguage } from '../texts/language.tsx';
import { Identities } from './identities.tsx';
import { Passkeys } from './passkeys.tsx';
import { TwoStep } from './two-step.tsx';

/** How the account logs in, beside its password. */
export function LoginMethodsView() {
  const { t } = useLanguage();
  return (
    <Page
      title={t.loginMethods.title}
      lead={t.loginMethods.text}
      width="narrow"
      back={{ href: '/account', label: t.account.title }}
    >
      <div class="stack">
        <Identities />
        <Passkeys />
        <TwoStep />
      </div>
    </Page>
  );
}
