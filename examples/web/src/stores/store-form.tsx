import type { CallOptions, Store } from '@dure/client';
import { useController } from 'react-hook-form';
import { useNavigate } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { useAccount } from '../app/session.tsx';
import { m } from '../paraglide/messages.js';
import { Checkbox, Fieldset, TextArea, TextField } from '../ui/fields.tsx';
import { Button, Form, Loaded, Page } from '../ui/index.ts';
import { currentPlace, useCategories } from './store-parts.tsx';

export function StoreForm() {
  const navigate = useNavigate();
  const { store } = useAccount();
  const categories = useCategories();
  const { name = '', description = '', address = '', phone_number = '', business_hours = '' } = store ?? {};
  const { location = null, show_exact_location = false, store_categories = [] } = store ?? {};
  const texts = { name, description, address, phone_number, business_hours };
  const category_ids = store_categories.map(({ id }) => String(id));
  const values = { ...texts, category_ids, location, show_exact_location };

  async function save(entered: typeof values, { idempotencyKey, ifMatch }: CallOptions) {
    const fields = { ...entered, category_ids: entered.category_ids.map(Number) };
    await (store
      ? change(dure.stores.updateOwn, fields, { ifMatch })
      : change(dure.stores.create, fields, { idempotencyKey }));
    navigate('/store', { replace: true });
  }

  function namesOf(chosen: unknown) {
    const isChosen = ({ id }: { id: number }) => Array.isArray(chosen) && chosen.includes(String(id));
    return categories.data?.items
      .filter(isChosen)
      .map(({ name }) => name)
      .join(', ');
  }

  return (
    <Page
      title={store ? m.edit_shop() : m.register_my_shop()}
      lead={m.other_shops_will_see_this()}
      width="narrow"
      back={{ to: '/store', label: m.my_shop() }}>
      <Loaded query={categories}>
        {({ items }) => (
          <Form
            values={values}
            version={store?.etag}
            draft="store"
            submitLabel={store ? m.save() : m.register()}
            onSubmit={save}>
            <TextField name="name" label={m.name_of_the_shop()} autoComplete="organization" maxLength={50} />
            <Fieldset name="category_ids" label={m.categories()} hint={m.choose_1_to_5()} show={namesOf}>
              <div className="choices">
                {items.map(({ id, name }) => (
                  <Checkbox key={id} name="category_ids" value={id} label={name} />
                ))}
              </div>
            </Fieldset>
            <TextArea
              name="description"
              label={m.about_the_shop()}
              hint={m.style_products_customers()}
              optional
              maxLength={2000}
            />
            <TextField
              name="address"
              label={m.address()}
              hint={m.add_the_neighbourhood_in_brackets()}
              optional
              autoComplete="street-address"
              maxLength={200}
            />
            <TextField
              name="phone_number"
              label={m.telephone()}
              optional
              type="tel"
              placeholder="02-123-4567"
            />
            <TextField name="business_hours" label={m.opening_hours()} optional maxLength={100} />
            <LocationField />
          </Form>
        )}
      </Loaded>
    </Page>
  );
}

function LocationField() {
  const { field } = useController({ name: 'location' });
  const location: Store['location'] = field.value;
  const isSet = m.the_location_is_set();
  const locate = async () => field.onChange(await currentPlace());
  return (
    <Fieldset
      name="location"
      label={m.location()}
      optional
      hint={m.shops_nearby_can_find_yours()}
      show={(value) => value != null && isSet}>
      <div className="row">
        <Button label={m.use_my_current_location()} onClick={locate} />
        {location && <Button label={m.remove_the_location()} onClick={() => field.onChange(null)} />}
        <span role="status">{location && isSet}</span>
      </div>
      {location && <Checkbox name="show_exact_location" label={m.show_the_exact_location()} />}
    </Fieldset>
  );
}
