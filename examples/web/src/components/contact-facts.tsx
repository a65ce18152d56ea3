import type { Contact } from '../api.ts';
import { useLanguage } from '../texts/language.tsx';

/** How to reach the owner of a partner store. */
export function ContactFacts({ contact }: { contact: Contact }) {
  const { t } = useLanguage();
  const { name, email, phone_number } = contact;
  return (
    <dl class="facts">
      <div>
        <dt>{t.contact.name}</dt>
        <dd>{name}</dd>
      </div>
      {phone_number && (
        <div>
          <dt>{t.store.phone}</dt>
          <dd>
            <a href={`tel:${phone_number}`}>{phone_number}</a>
          </dd>
        </div>
      )}
      <div>
        <dt>{t.fields.email}</dt>
        <dd>
          <a href={`mailto:${email}`}>{email}</a>
        </dd>
      </div>
    </dl>
  );
}
