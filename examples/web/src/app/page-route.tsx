import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import type { RouteObject } from 'react-router';
import { m } from '../paraglide/messages.js';
import { Button, Empty, Page, Skeleton } from '../ui/index.ts';

/** A page whose code is loaded when it is opened. */
export function page<Name extends string>(
  path: string,
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): RouteObject {
  const Content = lazy<ComponentType>(async () => ({ default: (await load())[name] }));
  const element = (
    <Suspense key={path} fallback={<Skeleton />}>
      <Content />
    </Suspense>
  );
  return { path, element };
}

/** For addresses that the app does not have. */
export function NotFound() {
  return (
    <Page title={m.page_not_found()} width="narrow">
      <Empty text={m.the_address_has_changed_or()} to="/" label={m.home()} />
    </Page>
  );
}

/** In place of a page whose code failed, or could not be loaded, as without a network or after a new version was published. */
export function CrashPage() {
  // Reads the newest version, too.
  const tryAgain = () => location.reload();
  useEffect(() => {
    addEventListener('online', tryAgain);
    return () => removeEventListener('online', tryAgain);
  }, []);
  return (
    <Page
      title={m.this_page_cannot_be_shown()}
      lead={m.check_your_connection_and_try()}
      width="narrow"
      back={{ to: '/', label: m.home() }}>
      <Button look="primary" label={m.try_again()} onClick={tryAgain} />
    </Page>
  );
}
