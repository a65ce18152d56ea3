import { supportsPasskeys } from '@dure/client';
import { useState } from 'preact/hooks';
import { dure, type Passkey } from '../api.ts';
import { CancelButton, ConfirmDialog, Dialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Skeleton } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useConfirmed } from '../confirmation.tsx';
import { usePages } from '../hooks/use-pages.ts';
import { describeDevice } from '../texts/devices.ts';
import { useLanguage } from '../texts/language.tsx';

/** The passkeys of the account. */
export function Passkeys() {
  const { t } = useLanguage();
  const { show } = useToasts();
  const confirmed = useConfirmed();
  const passkeys = usePages((cursor, signal) => dure.passkeys.list({ cursor }, { signal }), []);
  const [renaming, setRenaming] = useState<Passkey>();
  const [deleting, setDeleting] = useState<Passkey>();

  async function add() {
    const name = describeDevice(navigator.userAgent);
    await confirmed(() => dure.passkeys.register({ name }));
    await passkeys.refresh();
    show(t.passkeys.added);
  }

  return (
    <section class="card stack">
      <h2>{t.passkeys.title}</h2>
      <p class="soft">{t.passkeys.text}</p>
      <PagedList
        pages={passkeys}
        skeleton={<Skeleton count={1} height="4rem" />}
        empty={<p class="soft small">{t.passkeys.none}</p>}
      >
        {(passkey) => (
          <PasskeyItem
            passkey={passkey}
            onRename={() => setRenaming(passkey)}
            onDelete={() => setDeleting(passkey)}
          />
        )}
      </PagedList>
      {supportsPasskeys() ? (
        <Form submitLabel={t.passkeys.add} onSubmit={add} />
      ) : (
        <p class="soft">{t.passkeys.unsupported}</p>
      )}
      {renaming && (
        <Dialog title={t.passkeys.rename} onClose={() => setRenaming(undefined)}>
          <Form
            submitLabel={t.common.save}
            onSubmit={async (read) => {
              const renamed = await dure.passkeys.update({ passkey_id: renaming.id, name: read('name') });
              passkeys.update((item) => (item.id === renamed.id ? renamed : item));
              setRenaming(undefined);
            }}
            actions={<CancelButton onClick={() => setRenaming(undefined)} />}
          >
            <TextField
              name="name"
              label={t.passkeys.name}
              hint={t.passkeys.nameHint}
              defaultValue={renaming.name}
            />
          </Form>
        </Dialog>
      )}
      {deleting && (
        <ConfirmDialog
          title={t.passkeys.deleteTitle(deleting.name)}
          text={t.passkeys.deleteText}
          confirmLabel={t.common.delete}
          onClose={() => setDeleting(undefined)}
          onConfirm={async () => {
            await confirmed(() => dure.passkeys.delete({ passkey_id: deleting.id }));
            passkeys.update((item) => (item.id === deleting.id ? undefined : item));
            show(t.passkeys.deleted);
          }}
        />
      )}
    </section>
  );
}

interface PasskeyItemProps {
  passkey: Passkey;
  onRename: () => void;
  onDelete: () => void;
}

function PasskeyItem({ passkey, onRename, onDelete }: PasskeyItemProps) {
  const { t } = useLanguage();
  const { name, is_synced, last_used_at } = passkey;
  return (
    <div class="item">
      <h3>{name}</h3>
      <p class="soft small">
        {is_synced ? t.passkeys.synced : t.passkeys.thisDevice} · {t.loginMethods.lastUsed}{' '}
        <Time moment={last_used_at} />
      </p>
      <div class="row">
        <button type="button" class="button" onClick={onRename}>
          {t.passkeys.rename}
          <span class="visually-hidden"> {name}</span>
        </button>
        <button type="button" class="button danger" onClick={onDelete}>
          {t.common.delete}
          <span class="visually-hidden"> {name}</span>
        </button>
      </div>
    </div>
  );
}
