import { t } from '../text.ts';
import { Button, Empty, Page } from '../ui/index.ts';

/** For addresses that the app does not have. */
export function NotFound() {
  const text = t(
    '주소가 바뀌었거나 삭제된 페이지입니다.',
    'The address has changed, or the page was deleted.',
  );
  return (
    <Page title={t('페이지를 찾을 수 없습니다', 'Page not found')} width="narrow">
      <Empty text={text} to="/" label={t('두레 첫 화면', 'Home')} />
    </Page>
  );
}

/** In place of a page whose code failed, or could not be loaded after a new version was published. */
export function CrashPage() {
  return (
    <Page
      title={t('화면을 표시하지 못했습니다', 'This page cannot be shown')}
      lead={t('새로 고침하면 대부분 해결됩니다.', 'Loading the page again mostly helps.')}
      width="narrow"
    >
      <Button label={t('새로 고침', 'Reload')} onClick={() => location.reload()} />
    </Page>
  );
}
