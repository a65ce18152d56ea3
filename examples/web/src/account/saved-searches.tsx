import { useInfiniteList } from '@dure/react';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { searchPath, useDescribeSearch } from '../posts/search.tsx';
import { t } from '../text.ts';
import { AskButton, Card, List } from '../ui/index.ts';
import { change } from './change.tsx';

/** The searches whose new posts are notified. */
export function SavedSearches() {
  const searches = useInfiniteList(dure.savedSearches.list);
  const describe = useDescribeSearch();
  const none = t(
    '저장한 검색이 없습니다. 글을 검색하신 뒤 ‘이 조건으로 알림 받기’를 눌러 보세요.',
    'No saved searches. Search for posts, then choose “Notify me of new posts”.',
  );
  return (
    <Card
      title={t('저장한 검색', 'Saved searches')}
      text={t('조건에 맞는 새 글이 올라오면 알려 드립니다.', 'You will be notified of new posts that match.')}
    >
      <List query={searches} empty={<p className="soft small">{none}</p>}>
        {(search) => (
          <div className="item">
            <div className="spread">
              <h3>
                <Link to={searchPath('/', search)}>{search.name}</Link>
              </h3>
              <AskButton
                label={t('삭제', 'Delete')}
                about={search.name}
                title={t(`‘${search.name}’ 검색을 삭제할까요?`, `Delete the search “${search.name}”?`)}
                text={t(
                  '이 조건에 맞는 새 글을 더 이상 알려 드리지 않습니다.',
                  'You will no longer be notified of new posts that match.',
                )}
                onConfirm={() => change(dure.savedSearches.delete, { saved_search_id: search.id })}
              />
            </div>
            <p className="soft small">{describe(search)}</p>
          </div>
        )}
      </List>
    </Card>
  );
}
