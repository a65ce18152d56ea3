import { useState } from 'react';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { change, confirmed } from '../app/change.ts';
import { useAccount } from '../app/session.tsx';
import { CodeForm, codeSentTo, NewPasswordField } from '../auth/fields.tsx';
import { m } from '../paraglide/messages.js';
import { EmailField, PasswordField, TextField } from '../ui/fields.tsx';
import { AskButton, Button, Card, Facts, Form, Page } from '../ui/index.ts';
import { Consents } from './consents.tsx';

const subpages = {
  '/account/alerts': m.alert_settings,
  '/account/login-methods': m.ways_to_log_in,
  '/sessions': m.devices,
};

export function Account() {
  const { user } = useAccount();
  const email = (
    <>
      {user.email} {user.is_verified && <span className="chip">{m.verified()}</span>}
    </>
  );
  const logOut = <Button label={m.log_out()} onClick={() => dure.auth.logOut()} />;
  const download = m.download_my_data();
  const [deleteIt, whatGoes] = [m.delete_account(), m.your_shop_and_your_posts()];
  return (
    <Page title={m.account()} width="narrow" actions={logOut}>
      {!user.is_verified && (
        <MailedCode
          id="verify"
          title={m.verify_your_email()}
          text={m.then_you_will_get_news()}
          email={user.email}
          onCode={(input) => change(dure.auth.confirmEmail, input)}
        />
      )}
      <Card title={m.profile()}>
        <Facts facts={{ [m.username()]: user.username, [m.email()]: email }} />
        <Form
          draft="name"
          values={{ name: user.name }}
          submitLabel={m.save()}
          onSubmit={(entered) => change(dure.auth.updateCurrentUser, entered)}>
          <TextField name="name" label={m.name()} autoComplete="name" />
        </Form>
      </Card>
      <nav className="card" aria-label={m.settings()}>
        <ul className="items">
          {Object.entries(subpages).map(([path, label]) => (
            <li className="item" key={path}>
              <Link to={path}>{label()}</Link>
            </li>
          ))}
        </ul>
      </nav>
      <MailedCode
        id="email"
        title={m.change_email()}
        text={m.we_will_send_a_code()}
        submitLabel={m.change_email()}
        onCode={({ email, code }) => change(dure.auth.changeEmail, { new_email: email, code })}
      />
      <ChangePassword />
      <Consents />
      <Card title={download} text={m.everything_that_dure_has_about()}>
        <Form submitLabel={download} onSubmit={downloadOwnData} />
      </Card>
      <Card title={deleteIt} text={whatGoes}>
        <AskButton
          danger
          label={deleteIt}
          title={m.delete_your_account()}
          text={whatGoes}
          onConfirm={() => change(dure.auth.deleteCurrentUser, {})}
        />
      </Card>
    </Page>
  );
}

interface MailedCodeProps {
  id?: string;
  title: string;
  text: string;
  submitLabel?: string;
  /** Without it, one is entered. */
  email?: string;
  onCode: (input: { email: string; code: string }) => Promise<unknown>;
}

function MailedCode({ email, text, submitLabel, onCode, ...card }: MailedCodeProps) {
  const [sentTo, setSentTo] = useState<string>();
  const close = () => setSentTo(undefined);

  async function send(entered: { email: string }) {
    await dure.auth.sendVerificationCode(entered);
    setSentTo(entered.email);
  }

  return (
    <Card {...card} text={sentTo ? codeSentTo(sentTo) : text}>
      {sentTo ? (
        <CodeForm
          email={sentTo}
          submitLabel={submitLabel}
          onCode={(code) => onCode({ email: sentTo, code }).then(close)}
          actions={<Button label={m.cancel()} onClick={close} />}
        />
      ) : (
        <Form values={{ email: email ?? '' }} submitLabel={m.get_a_code()} onSubmit={send}>
          {!email && <EmailField label={m.new_email()} />}
        </Form>
      )}
    </Card>
  );
}

function ChangePassword() {
  const title = m.change_password();
  return (
    <Card title={title} text={m.this_logs_you_out_on()}>
      <Form
        values={{ current_password: '', new_password: '' }}
        submitLabel={title}
        onSubmit={(entered) => change(dure.auth.changePassword, entered)}>
        <PasswordField name="current_password" label={m.current_password()} autoComplete="current-password" />
        <NewPasswordField name="new_password" label={m.new_password()} />
      </Form>
      <Link className="back small" to="/reset-password-request">
        {m.no_password_or_forgotten_set()}
      </Link>
    </Card>
  );
}

async function downloadOwnData(): Promise<void> {
  const data = await confirmed(() => dure.auth.downloadOwnData());
  const file = new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' });
  const href = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { download: 'dure-my-data.json', href }).click();
  URL.revokeObjectURL(href);
}
