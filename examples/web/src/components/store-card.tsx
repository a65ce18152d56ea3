import type { StoreListItem } from '../api.ts';
import { Categories } from './categories.tsx';
import { Image } from './image.tsx';

/** A store in a list. */
export function StoreCard({ store }: { store: StoreListItem }) {
  const { id, name, thumbnail, address, description } = store;
  return (
    <article class="post-card">
      <Image url={thumbnail} />
      <div class="post-card-body">
        <h2>
          <a href={`/stores/${id}`}>{name}</a>
        </h2>
        {address && <p class="soft small">{address}</p>}
        <Categories of={store} />
        {description && <p class="small clamped">{description}</p>}
      </div>
    </article>
  );
}
