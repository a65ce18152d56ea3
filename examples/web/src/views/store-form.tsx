import { useId, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { dure, type Store } from '../api.ts';
import { Checkbox, ErrorTexts, TextArea, TextField } from '../components/field.tsx';
import { Form, useFieldErrors } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { LoadError } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useAttempt } from '../hooks/use-attempt.ts';
import { useCategories } from '../hooks/use-categories.ts';
import { currentPlace } from '../place.ts';
import { useAccount, useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Registers the store, or edits it. */
export function StoreFormView() {
  const { t } = useLanguage();
  const { route } = useLocation();
  const { show } = useToasts();
  const { store } = useAccount();
  const { setStore } = useSession();
  const [location, setLocation] = useState(store?.location ?? null);

  async function save(read: (name: string) => string, data: FormData) {
    const fields = {
      name: read('name'),
      category_ids: data.getAll('category_ids').map(Number),
      description: read('description'),
      address: read('address'),
      phone_number: read('phone_number'),
      business_hours: read('business_hours'),
      location,
      show_exact_location: data.has('show_exact_location'),
    };
    setStore(store === null ? await dure.stores.create(fields) : await dure.stores.updateOwn(fields));
    show(store === null ? t.storeForm.registered : t.common.saved);
    route('/store', true);
  }

  return (
    <Page
      title={store === null ? t.ownStore.register : t.ownStore.edit}
      lead={t.storeForm.lead}
      width="narrow"
      back={{ href: '/store', label: t.ownStore.title }}
    >
      <Form submitLabel={store === null ? t.storeForm.submit : t.common.save} onSubmit={save}>
        <TextField
          name="name"
          label={t.storeForm.name}
          autocomplete="organization"
          maxLength={50}
          defaultValue={store?.name}
        />
        <CategoryChoices chosen={store?.store_categories.map(({ id }) => id) ?? []} />
        <TextArea
          name="description"
          label={t.storeForm.description}
          hint={t.storeForm.descriptionHint}
          optional
          maxLength={2000}
          defaultValue={store?.description}
        />
        <TextField
          name="address"
          label={t.store.address}
          optional
          autocomplete="street-address"
          maxLength={200}
          defaultValue={store?.address}
        />
        <TextField
          name="phone_number"
          type="tel"
          label={t.store.phone}
          optional
          autocomplete="tel"
          placeholder="02-123-4567"
          defaultValue={store?.phone_number}
        />
        <TextField
          name="business_hours"
          label={t.store.hours}
          optional
          maxLength={100}
          placeholder={t.storeForm.hoursExample}
          defaultValue={store?.business_hours}
        />
        <LocationField location={location} onChange={setLocation} isExact={store?.show_exact_location} />
      </Form>
    </Page>
  );
}

interface LocationFieldProps {
  location: Store['location'];
  onChange: (location: Store['location']) => void;
  isExact: boolean | undefined;
}

function LocationField({ location, onChange, isExact = false }: LocationFieldProps) {
  const { t } = useLanguage();
  const attempt = useAttempt();
  return (
    <fieldset class="field">
      <legend>
        {t.storeForm.location} <span class="optional">{t.common.optional}</span>
      </legend>
      <p class="hint">{t.storeForm.locationHint}</p>
      <div class="row">
        <button
          type="button"
          class="button"
          onClick={() => attempt(async () => onChange(await currentPlace()))}
        >
          {t.storeForm.setLocation}
        </button>
        {location && (
          <button type="button" class="button" onClick={() => onChange(null)}>
            {t.storeForm.removeLocation}
          </button>
        )}
        <span role="status">{location && t.storeForm.locationSet}</span>
      </div>
      {location && (
        <Checkbox name="show_exact_location" label={t.storeForm.showExact} defaultChecked={isExact} />
      )}
    </fieldset>
  );
}

function CategoryChoices({ chosen }: { chosen: number[] }) {
  const { t } = useLanguage();
  const id = useId();
  const categories = useCategories();
  const errors = useFieldErrors('category_ids');
  return (
    <fieldset class="field" aria-describedby={`${id}-hint ${errors.length > 0 ? `${id}-error` : ''}`.trim()}>
      <legend>{t.storeForm.categories}</legend>
      <p class="hint" id={`${id}-hint`}>
        {t.storeForm.categoriesHint}
      </p>
      <div class="choices">
        {categories.error !== undefined && <LoadError error={categories.error} onRetry={categories.reload} />}
        {categories.value?.items.map((category) => (
          <Checkbox
            key={category.id}
            name="category_ids"
            value={category.id}
            label={category.name}
            lang="ko"
            defaultChecked={chosen.includes(category.id)}
            aria-invalid={errors.length > 0}
          />
        ))}
      </div>
      <ErrorTexts id={`${id}-error`} errors={errors} />
    </fieldset>
  );
}
