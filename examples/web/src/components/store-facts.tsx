import type { Store } from '../api.ts';
import { useLanguage } from '../texts/language.tsx';
import { Categories } from './categories.tsx';

/** What a store says about itself. */
export function StoreFacts({ store }: { store: Store }) {
  const { t } = useLanguage();
  const { description, address, phone_number, business_hours } = store;
  const facts = [
    { label: t.store.address, value: address },
    { label: t.store.hours, value: business_hours },
  ].filter(({ value }) => value !== '');
  return (
    <section class="card stack" aria-label={t.store.about}>
      <Categories of={store} />
      {description && <p class="pre-line">{description}</p>}
      {(facts.length > 0 || phone_number) && (
        <dl class="facts">
          {facts.map(({ label, value }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
          {phone_number && (
            <div>
              <dt>{t.store.phone}</dt>
              <dd>
                <a href={`tel:${phone_number}`}>{phone_number}</a>
              </dd>
            </div>
          )}
        </dl>
      )}
    </section>
  );
}
