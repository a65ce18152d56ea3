import { useQuery } from '@tanstack/react-query';
import { type ComponentType, useEffect } from 'react';
import { type RouteObject, useParams } from 'react-router';
import { m } from '../paraglide/messages.js';
import { Button, Empty, Page, Skeleton } from '../ui/index.ts';

/** A page whose code is loaded when it is opened: again after an error, and once there is a network. */
export function page<Name extends string>(
  path: string,
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): RouteObject {
  function LoadedPage() {
    const { id } = useParams();
    const { data, error, refetch } = useQuery({
      queryKey: ['code', path],
      queryFn: async () => {
        const Content: ComponentType = (await load())[name];
        return { Content };
      },
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: Number.POSITIVE_INFINITY,
      retry: 1,
    });
    if (id !== undefined && !/^\d{1,9}$/.test(id)) return <NotFound />;
    if (data) return <data.Content />;
    return error ? <CrashPage retry={refetch} /> : <Skeleton />;
  }
  return { path, Component: LoadedPage };
}

export function NotFound() {
  return (
    <Page title={m.page_not_found()} width="narrow">
      <Empty text={m.the_address_has_changed_or()} to="/" label={m.home()} />
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
      back={{ to: '/', label: m.home() }}>
      <Button look="primary" label={m.try_again()} onClick={tryAgain} />
    </Page>
  );
}
