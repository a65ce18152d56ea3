import type { StoreSummary } from '@dure/client';
import { useObject } from '@dure/react';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { getLocale } from '../paraglide/runtime.js';
import { ButtonLink, Card } from '../ui/index.ts';

/** The categories that a store can have, named in the language of the page. */
export function useCategories() {
  return useObject(dure.stores.listCategories, undefined, {
    staleTime: Number.POSITIVE_INFINITY,
    select: ({ items }) => ({
      items: items.map((one) => ({ ...one, name: getLocale() === 'ko' ? one.name : one.name_en })),
    }),
  });
}

export function Categories({ of }: { of: Pick<StoreSummary, 'store_categories'> }) {
  const { data } = useCategories();
  const nameOf = (id: number) => data?.items.find((one) => one.id === id)?.name;
  return (
    <ul className="row">
      {of.store_categories.map(({ id, name }) => (
        <li className="chip" key={id}>
          {nameOf(id) ?? name}
        </li>
      ))}
    </ul>
  );
}

export function StoreCard({ store }: { store: StoreSummary }) {
  return (
    <Card title={<Link to={`/stores/${store.id}`}>{store.name}</Link>}>
      <Categories of={store} />
    </Card>
  );
}

export function StoreFirst() {
  return (
    <div className="note row my-16">
      <p>{m.register_your_shop_to_write()}</p>
      <ButtonLink look="primary" to="/store/edit" label={m.register_my_shop()} />
    </div>
  );
}

/** Where this device is. Asks the user; call it from a button. @throws GeolocationPositionError */
export async function currentPlace(): Promise<{ latitude: number; longitude: number }> {
  const { coords } = await new Promise<GeolocationPosition>((resolve, reject) => {
    navigator.geolocation.getCurrentPosition(resolve, reject, { timeout: 10_000, maximumAge: 60_000 });
  });
  return { latitude: coords.latitude, longitude: coords.longitude };
}
