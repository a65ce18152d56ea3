import { useEffect } from 'react';
import { m } from '../paraglide/messages.js';
import { Button, Empty, Page } from '../ui/index.ts';

/** For addresses that the app does not have. */
export function NotFound() {
  const text = m.the_address_has_changed_or();
  return (
    <Page title={m.page_not_found()} width="narrow">
      <Empty text={text} to="/" label={m.home()} />
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
      title={m.this_page_cannot_be_shown()}
      lead={m.check_your_connection_and_try()}
      width="narrow"
      back={{ to: '/', label: m.home() }}
    >
      <div>
        <Button look="primary" label={m.try_again()} onClick={tryAgain} />
      </div>
    </Page>
  );
}
