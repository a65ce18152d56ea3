import { useState } from 'preact/hooks';
import { TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { useLanguage } from '../texts/language.tsx';

interface MailRequestProps {
  title: string;
  lead: string;
  submitLabel: string;
  /** Asks for the mail. @returns the service's text about it, which is the same for any address */
  send: (email: string) => Promise<string>;
}

/** A page that asks for an email to an address. */
export function MailRequest({ title, lead, submitLabel, send }: MailRequestProps) {
  const { t } = useLanguage();
  const [answer, setAnswer] = useState('');
  return (
    <Page title={title} lead={lead} width="form-page" back={{ href: '/login', label: t.nav.logIn }}>
      <div class="stack">
        <Form
          submitLabel={submitLabel}
          onSubmit={async (read) => {
            setAnswer('');
            setAnswer(await send(read('email').trim()));
          }}
        >
          <TextField name="email" type="email" label={t.fields.email} autocomplete="email" />
        </Form>
        <div role="status">{answer && <p class="note">{answer}</p>}</div>
      </div>
    </Page>
  );
}
