import { useEffect } from 'react';
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

/** In place of a page whose code failed, or could not be loaded, as without a network or after a new version was published. */
export function CrashPage({ retry }: { retry?: () => Promise<{ isError: boolean }> }) {
  async function tryAgain() {
    // A browser may keep the answer to a module; a reload reads the newest version.
    if (!retry || (await retry()).isError) location.reload();
  }
  useEffect(() => {
    addEventListener('online', tryAgain);
    return () => removeEventListener('online', tryAgain);
  });
  return (
    <Page
      title={t('화면을 표시하지 못했습니다', 'This page cannot be shown')}
      lead={t(
        '인터넷에 연결되어 있는지 확인하고 다시 시도해 주세요. 적으시던 내용은 남아 있습니다.',
        'Check your connection and try again. What you were writing is kept.',
      )}
      width="narrow"
      back={{ to: '/', label: t('두레 첫 화면', 'Home') }}
    >
      <div>
        <Button look="primary" label={t('다시 시도', 'Try again')} onClick={tryAgain} />
      </div>
    </Page>
  );
}
