import { Page } from '../components/page.tsx';
import { Empty } from '../components/states.tsx';
import { useLanguage } from '../texts/language.tsx';

/** For addresses that the app does not have. */
export function NotFoundView() {
  const { t } = useLanguage();
  return (
    <Page title={t.notFound.title} width="narrow">
      <Empty text={t.notFound.text}>
        <a class="button" href="/">
          {t.nav.home}
        </a>
      </Empty>
    </Page>
  );
}
