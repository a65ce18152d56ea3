import { useState } from 'preact/hooks';
import { dure, type Filters } from '../api.ts';
import { useLanguage } from '../texts/language.tsx';
import { CancelButton, Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { useToasts } from './toasts.tsx';

/** Keeps a search, so that new posts that match it are notified. */
export function SaveSearch({ filters, name }: { filters: Filters; name: string }) {
  const { t } = useLanguage();
  const { show } = useToasts();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <div style="margin-bottom:20px">
      <button type="button" class="button" onClick={() => setOpen(true)}>
        {t.savedSearches.save}
      </button>
      {isOpen && (
        <Dialog title={t.savedSearches.save} onClose={close}>
          <p>{t.savedSearches.text}</p>
          <Form
            submitLabel={t.common.save}
            onSubmit={async (read) => {
              await dure.savedSearches.create({ name: read('name'), ...filters });
              show(`${t.common.saved} ${t.savedSearches.text}`);
              close();
            }}
            actions={<CancelButton onClick={close} />}
          >
            <TextField
              name="name"
              label={t.savedSearches.name}
              maxLength={50}
              defaultValue={name.slice(0, 50)}
            />
          </Form>
        </Dialog>
      )}
    </div>
  );
}
