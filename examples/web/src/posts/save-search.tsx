import { useInfiniteList } from '@dure/react';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { m } from '../paraglide/messages.js';
import { TextField } from '../ui/fields.tsx';
import { AskButton } from '../ui/index.ts';
import { type Filters, searchPath, useDescribeSearch } from './filters.ts';

/** Keeps a search, so that new posts that match it are notified. */
export default function SaveSearch({ filters }: { filters: Filters }) {
  const name = useDescribeSearch()(filters).slice(0, 50);
  const saved = useInfiniteList(dure.savedSearches.list).items;
  const isSaved = saved.some((one) => searchPath('/', one) === searchPath('/', filters));
  return (
    <div className="my-16">
      {isSaved ? (
        <Link to="/account/alerts">{m.you_are_notified_of_new()}</Link>
      ) : (
        <AskButton
          label={m.notify_me_of_new_posts()}
          text={m.you_will_be_notified_of()}
          confirmLabel={m.save()}
          values={{ name }}
          onConfirm={(entered) => change(dure.savedSearches.create, { ...entered, ...filters })}>
          <TextField name="name" label={m.name_of_the_search()} maxLength={50} />
        </AskButton>
      )}
    </div>
  );
}
