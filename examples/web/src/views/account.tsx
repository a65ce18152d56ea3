import { useState } from 'preact/hooks';
import { dure } from '../api.ts';
import { ConfirmDialog } from '../components/dialog.tsx';
import { PasswordField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useConfirmed } from '../confirmation.tsx';
import { useAttempt } from '../hooks/use-attempt.ts';
import { useAccount, useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';
import { ChangeEmail } from './change-email.tsx';
import { Consents } from './consents.tsx';
import { VerifyEmail } from './verify-email.tsx';

/** The account: name, address, password, devices, log out, delete. */
export function AccountView() {
  const { t } = useLanguage();
  const { user } = useAccount();
  const { setUser } = useSession();
  const { show } = useToasts();
  const attempt = useAttempt();

  return (
    <Page
      title={t.account.title}
      width="narrow"
      actions={
        <button type="button" class="button" onClick={() => attempt(() => dure.auth.logOut())}>
          {t.account.logOut}
        </button>
      }
    >
      <div class="stack">
        {!user.is_verified && <VerifyEmail />}
        <section class="card stack">
          <h2>{t.account.profile}</h2>
          <dl class="facts">
            <div>
              <dt>{t.fields.username}</dt>
              <dd>{user.username}</dd>
            </div>
            <div>
              <dt>{t.fields.email}</dt>
              <dd>
                {user.email} {user.is_verified && <span class="chip">{t.account.verified}</span>}
              </dd>
            </div>
          </dl>
          <Form
            submitLabel={t.common.save}
            onSubmit={async (read) => {
              setUser(await dure.auth.updateCurrentUser({ name: read('name') }));
              show(t.common.saved);
            }}
          >
            <TextField name="name" label={t.fields.name} autocomplete="name" defaultValue={user.name} />
          </Form>
        </section>
        <LinkCard href="/account/alerts" {...t.alerts} />
        <LinkCard href="/account/login-methods" {...t.loginMethods} />
        <LinkCard href="/sessions" title={t.sessions.title} text={t.account.sessionsText} />
        <ChangeEmail />
        <ChangePassword />
        <Consents />
        <OwnData />
        <DeleteAccount />
      </div>
    </Page>
  );
}

interface LinkCardProps {
  href: string;
  title: string;
  text: string;
}

function LinkCard({ href, title, text }: LinkCardProps) {
  const { t } = useLanguage();
  return (
    <section class="card stack">
      <h2>{title}</h2>
      <p class="soft">{text}</p>
      <div>
        <a class="button" href={href}>
          {t.common.show}
          <span class="visually-hidden"> {title}</span>
        </a>
      </div>
    </section>
  );
}

function ChangePassword() {
  const { t } = useLanguage();
  const { show } = useToasts();
  // A new key empties the inputs.
  const [version, setVersion] = useState(0);
  return (
    <section class="card stack">
      <h2>{t.account.changePassword}</h2>
      <p class="soft">{t.account.changePasswordText}</p>
      <Form
        key={version}
        submitLabel={t.account.changePassword}
        onSubmit={async (read) => {
          await dure.auth.changePassword({
            current_password: read('current_password'),
            new_password: read('new_password'),
          });
          setVersion(version + 1);
          show(t.account.passwordChanged);
        }}
      >
        <PasswordField
          name="current_password"
          label={t.account.currentPassword}
          autocomplete="current-password"
        />
        <PasswordField
          name="new_password"
          label={t.fields.newPassword}
          hint={t.fields.passwordHint}
          autocomplete="new-password"
        />
      </Form>
      <p class="small">
        <a class="back" href="/reset-password-request">
          {t.account.noPassword}
        </a>
      </p>
    </section>
  );
}

function OwnData() {
  const { t } = useLanguage();
  const confirmed = useConfirmed();

  async function download() {
    const data = await confirmed(() => dure.auth.downloadOwnData());
    const file = new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file);
    link.download = 'dure-my-data.json';
    link.click();
    URL.revokeObjectURL(link.href);
  }

  return (
    <section class="card stack">
      <h2>{t.ownData.title}</h2>
      <p class="soft">{t.ownData.text}</p>
      <Form submitLabel={t.ownData.title} onSubmit={download} />
    </section>
  );
}

function DeleteAccount() {
  const { t } = useLanguage();
  const { show } = useToasts();
  const confirmed = useConfirmed();
  const [isAsking, setAsking] = useState(false);
  return (
    <section class="card stack">
      <h2>{t.account.delete}</h2>
      <p class="soft">{t.account.deleteText}</p>
      <div>
        <button type="button" class="button danger" onClick={() => setAsking(true)}>
          {t.account.delete}
        </button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={t.account.deleteTitle}
          text={t.account.deleteText}
          confirmLabel={t.account.delete}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await confirmed((password) => dure.auth.deleteCurrentUser({ password }));
            show(t.account.deleted);
          }}
        />
      )}
    </section>
  );
}
