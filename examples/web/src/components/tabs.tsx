import { useLanguage } from '../texts/language.tsx';

interface TabsProps {
  label: string;
  /** Labels by path. */
  tabs: Record<string, string>;
  /** A path. */
  current: string;
}

function Tabs({ label, tabs, current }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {Object.entries(tabs).map(([path, name]) => (
        <a key={path} href={path} aria-current={path === current ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** Links between the posts and the stores of the neighbourhood. */
export function DirectoryTabs({ current }: { current: '/' | '/?status=closed' | '/stores' }) {
  const { t } = useLanguage();
  const tabs = { '/': t.post.title, '/?status=closed': t.feed.closed, '/stores': t.store.title };
  return <Tabs label={t.nav.feed} tabs={tabs} current={current} />;
}

/** Links between the lists of requests and of partners. */
export function RequestTabs({ current }: { current: '/requests' | '/requests?box=sent' | '/partners' }) {
  const { t } = useLanguage();
  const { received, sent, title } = t.requests;
  const tabs = { '/requests': received, '/requests?box=sent': sent, '/partners': t.partners.title };
  return <Tabs label={title} tabs={tabs} current={current} />;
}
