import { useState } from 'preact/hooks';
import { dure, type SavedSearch } from '../api.ts';
import { ConfirmDialog } from '../components/dialog.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Skeleton } from '../components/states.tsx';
import { useCategories } from '../hooks/use-categories.ts';
import { usePages } from '../hooks/use-pages.ts';
import { describeSearch, searchPath } from '../search.ts';
import { useLanguage } from '../texts/language.tsx';

/** The searches whose new posts are notified. */
export function SavedSearches() {
  const { t } = useLanguage();
  const categories = useCategories().value?.items ?? [];
  const searches = usePages((cursor, signal) => dure.savedSearches.list({ cursor }, { signal }), []);
  const [deleting, setDeleting] = useState<SavedSearch>();
  return (
    <section class="card stack">
      <h2>{t.savedSearches.title}</h2>
      <p class="soft">{t.savedSearches.text}</p>
      <PagedList
        pages={searches}
        skeleton={<Skeleton count={1} height="4rem" />}
        empty={<p class="soft small">{t.savedSearches.none}</p>}
      >
        {(search) => (
          <div class="item">
            <div class="spread">
              <h3>
                <a href={searchPath('/', search)}>{search.name}</a>
              </h3>
              <button type="button" class="button" onClick={() => setDeleting(search)}>
                {t.common.delete}
                <span class="visually-hidden"> {search.name}</span>
              </button>
            </div>
            <p class="soft small">{describeSearch(search, categories, t)}</p>
          </div>
        )}
      </PagedList>
      {deleting && (
        <ConfirmDialog
          title={t.savedSearches.deleteTitle(deleting.name)}
          text={t.savedSearches.deleteText}
          confirmLabel={t.common.delete}
          onClose={() => setDeleting(undefined)}
          onConfirm={async () => {
            await dure.savedSearches.delete({ saved_search_id: deleting.id });
            searches.update((item) => (item.id === deleting.id ? undefined : item));
          }}
        />
      )}
    </section>
  );
}
