import type { CallOptions } from '@dure/client';
import { useController } from 'react-hook-form';
import { useNavigate } from 'react-router';
import { dure, type Store } from '../api.ts';
import { change, readAgain } from '../app/change.ts';
import { useAccount } from '../app/session.tsx';
import { t } from '../text.ts';
import { Button, Checkbox, Fieldset, Form, Loaded, Page, TextArea, TextField } from '../ui/index.ts';
import { currentPlace, useCategories } from './store-parts.tsx';

/** Registers the store, or edits it. */
export function StoreForm() {
  const navigate = useNavigate();
  const { store } = useAccount();
  const categories = useCategories();
  const lines = [
    {
      name: 'address',
      label: t('주소', 'Address'),
      hint: t(
        '도로명 주소 뒤에 동을 적어 주세요. 예: 월드컵로13길 9 (망원동)',
        'Add the neighbourhood in brackets, as in: 월드컵로13길 9 (망원동)',
      ),
      autoComplete: 'street-address',
      maxLength: 200,
    },
    { name: 'phone_number', label: t('전화번호', 'Telephone'), type: 'tel', placeholder: '02-123-4567' },
    { name: 'business_hours', label: t('영업시간', 'Opening hours'), maxLength: 100 },
  ] as const;
  const { name = '', description = '', address = '', phone_number = '', business_hours = '' } = store ?? {};
  const { location = null, show_exact_location = false, store_categories = [] } = store ?? {};
  const category_ids = store_categories.map(({ id }) => String(id));
  const values = {
    ...{ name, category_ids, description, address, phone_number, business_hours, location },
    show_exact_location,
  };

  async function save(entered: typeof values, { idempotencyKey, ifMatch }: CallOptions) {
    const fields = { ...entered, category_ids: entered.category_ids.map(Number) };
    await (store
      ? change(dure.stores.updateOwn, fields, { ifMatch })
      : change(dure.stores.create, fields, { idempotencyKey }));
    navigate('/store', { replace: true });
  }

  return (
    <Page
      title={store ? t('가게 정보 수정', 'Edit shop') : t('가게 등록하기', 'Register my shop')}
      lead={t('이웃 가게에 보이는 정보입니다.', 'Other shops will see this.')}
      width="narrow"
      back={{ to: '/store', label: t('내 가게', 'My shop') }}
    >
      <Loaded query={categories}>
        {({ items }) => (
          <Form
            values={values}
            version={store?.etag}
            draft="store"
            submitLabel={store ? t('저장', 'Save') : t('등록하기', 'Register')}
            pendingLabel={store ? t('저장하는 중…', 'Saving…') : t('등록하는 중…', 'Registering…')}
            onSubmit={save}
            refetch={readAgain}
          >
            <TextField
              name="name"
              label={t('가게 이름', 'Name of the shop')}
              autoComplete="organization"
              maxLength={50}
            />
            <Fieldset
              name="category_ids"
              legend={t('업종', 'Categories')}
              hint={t('1개에서 5개까지 골라 주세요.', 'Choose 1 to 5.')}
              show={(chosen) =>
                items
                  .filter(({ id }) => Array.isArray(chosen) && chosen.includes(String(id)))
                  .map(({ name }) => name)
                  .join(', ')
              }
            >
              <div className="choices">
                {items.map(({ id, name }) => (
                  <Checkbox key={id} name="category_ids" value={id} label={name} />
                ))}
              </div>
            </Fieldset>
            <TextArea
              name="description"
              label={t('가게 소개', 'About the shop')}
              hint={t('분위기, 대표 메뉴, 손님층을 적어 주시면 좋습니다.', 'Style, products, customers.')}
              optional
              maxLength={2000}
            />
            {lines.map((line) => (
              <TextField key={line.name} {...line} optional />
            ))}
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
  const isSet = t('위치가 설정되어 있습니다.', 'The location is set.');
  const locate = async () => field.onChange(await currentPlace());
  return (
    <Fieldset
      name="location"
      legend={t('위치', 'Location')}
      optional
      hint={t(
        '가까운 이웃이 우리 가게를 찾기 쉬워집니다. 정확한 위치를 공개하지 않으시면 100m 정도 어림한 위치만 보입니다.',
        'Shops nearby can find yours. Unless you show the exact location, others see it to about 100 m.',
      )}
      show={(value) => value != null && isSet}
    >
      <div className="row">
        <Button label={t('현재 위치로 설정', 'Use my current location')} onClick={locate} />
        {location && (
          <Button label={t('위치 지우기', 'Remove the location')} onClick={() => field.onChange(null)} />
        )}
        <span role="status">{location && isSet}</span>
      </div>
      {location && (
        <Checkbox name="show_exact_location" label={t('정확한 위치 공개', 'Show the exact location')} />
      )}
    </Fieldset>
  );
}
