import { useInfiniteList } from '@dure/react';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { t } from '../text.ts';
import { AskButton, TextField } from '../ui/index.ts';
import { type Filters, useDescribeSearch } from './filters.ts';

/** Keeps a search, so that new posts that match it are notified. */
export default function SaveSearch({ filters }: { filters: Filters }) {
  const name = useDescribeSearch()(filters).slice(0, 50);
  const saved = useInfiniteList(dure.savedSearches.list).items;
  const isSaved = saved.some((one) =>
    (['q', 'category_id', 'region', 'near', 'radius_m'] as const).every(
      (name) => (one[name] ?? undefined) === (filters[name] ?? undefined),
    ),
  );
  if (isSaved) {
    return (
      <p className="my-16">
        <Link to="/account/alerts">
          {t('이 조건으로 알림을 받고 있습니다.', 'You are notified of new posts of this search.')}
        </Link>
      </p>
    );
  }
  return (
    <div className="my-16">
      <AskButton
        label={t('이 조건으로 알림 받기', 'Notify me of new posts')}
        text={t(
          '조건에 맞는 새 글이 올라오면 알려 드립니다.',
          'You will be notified of new posts that match.',
        )}
        confirmLabel={t('저장', 'Save')}
        pendingLabel={t('저장하는 중…', 'Saving…')}
        values={{ name }}
        onConfirm={(entered) => change(dure.savedSearches.create, { ...entered, ...filters })}
      >
        <TextField name="name" label={t('검색 이름', 'Name of the search')} maxLength={50} />
      </AskButton>
    </div>
  );
}
