import { useLanguage } from '../texts/language.tsx';

interface RequestTabsProps {
  current: 'received' | 'sent' | 'partners';
}

/** Links between the lists of requests and of partners. */
export function RequestTabs({ current }: RequestTabsProps) {
  const { t } = useLanguage();
  const tabs = [
    { name: 'received', href: '/requests', label: t.requests.received },
    { name: 'sent', href: '/requests?box=sent', label: t.requests.sent },
    { name: 'partners', href: '/partners', label: t.partners.title },
  ];
  return (
    <nav class="tabs" aria-label={t.requests.title}>
      {tabs.map(({ name, href, label }) => (
        <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
