import { useObject } from '@dure/react';
import { dure, type StoreSummary } from '../api.ts';
import { t } from '../text.ts';

/** The categories that a store can have, named in the language of the page. */
export function useCategories() {
  return useObject(
    dure.stores.listCategories,
    {},
    {
      staleTime: Number.POSITIVE_INFINITY,
      select: ({ items }) => ({ items: items.map((one) => ({ ...one, name: t(one.name, one.name_en) })) }),
    },
  );
}

/** What kind of store it is. */
export function Categories({ of }: { of: Pick<StoreSummary, 'store_categories'> }) {
  const { data } = useCategories();
  return (
    <ul className="row">
      {of.store_categories.map(({ id, name }) => (
        <li className="chip" key={id}>
          {data?.items.find((one) => one.id === id)?.name ?? name}
        </li>
      ))}
    </ul>
  );
}

/** Where this device is. Asks the user; call it from a button. @throws GeolocationPositionError */
export async function currentPlace(): Promise<{ latitude: number; longitude: number }> {
  const { coords } = await new Promise<GeolocationPosition>((resolve, reject) => {
    navigator.geolocation.getCurrentPosition(resolve, reject, { timeout: 10_000, maximumAge: 60_000 });
  });
  return { latitude: coords.latitude, longitude: coords.longitude };
}
