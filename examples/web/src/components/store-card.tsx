import type { StoreListItem } from '../api.ts';
import { describeDistance } from '../place.ts';
import { useLanguage } from '../texts/language.tsx';
import { Categories } from './categories.tsx';
import { Image } from './image.tsx';

/** A store in a list. */
export function StoreCard({ store }: { store: StoreListItem }) {
  const { t } = useLanguage();
  const { id, name, thumbnail, address, description, distance_m } = store;
  const where = [distance_m !== null && describeDistance(distance_m, t), address].filter(Boolean).join(' · ');
  return (
    <article class="post-card">
      <Image url={thumbnail} />
      <div class="post-card-body">
        <h2>
          <a href={`/stores/${id}`}>{name}</a>
        </h2>
        {where && <p class="soft small">{where}</p>}
        <Categories of={store} />
        {description && <p class="small clamped">{description}</p>}
      </div>
    </article>
  );
}
