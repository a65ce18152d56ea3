import { useLanguage } from '../texts/language.tsx';

/** Links between the posts and the stores of the neighbourhood. */
export function DirectoryTabs({ current }: { current: 'posts' | 'stores' }) {
  const { t } = useLanguage();
  return (
    <nav class="tabs" aria-label={t.nav.feed}>
      <a href="/" aria-current={current === 'posts' ? 'page' : undefined}>
        {t.post.title}
      </a>
      <a href="/stores" aria-current={current === 'stores' ? 'page' : undefined}>
        {t.store.title}
      </a>
    </nav>
  );
}
