import { useId } from 'preact/hooks';
import { dure, type Preferences } from '../api.ts';
import { Form } from '../components/form.tsx';
import { LoadError, Skeleton } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { useLanguage } from '../texts/language.tsx';

/** Which emails the account gets, and in which language. */
export function MailPreferences() {
  const { t } = useLanguage();
  const { value, error, reload } = useLoad((signal) => dure.getMailPreferences({}, { signal }), []);
  return (
    <section class="card stack">
      <h2>{t.preferences.title}</h2>
      <p class="soft">{t.preferences.text}</p>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton count={1} height="9rem" />}
      {value && <PreferencesForm preferences={value} />}
    </section>
  );
}

function PreferencesForm({ preferences: { language, email } }: { preferences: Preferences }) {
  const { t } = useLanguage();
  const { show } = useToasts();
  const id = useId();
  const kinds = [
    { name: 'partner_request_received', label: t.preferences.received },
    { name: 'partner_request_answered', label: t.preferences.answered },
    { name: 'partner_request_ended', label: t.preferences.ended },
  ] as const;
  return (
    <Form
      submitLabel={t.common.save}
      onSubmit={async (read, data) => {
        await dure.updateMailPreferences({
          language: read('language') === 'en' ? 'en' : 'ko',
          email: {
            partner_request_received: data.has('partner_request_received'),
            partner_request_answered: data.has('partner_request_answered'),
            partner_request_ended: data.has('partner_request_ended'),
          },
        });
        show(t.common.saved);
      }}
    >
      <div class="field">
        <label for={id}>{t.preferences.language}</label>
        <select id={id} class="input" name="language" defaultValue={language}>
          <option value="ko" lang="ko">
            {t.preferences.languages.ko}
          </option>
          <option value="en" lang="en">
            {t.preferences.languages.en}
          </option>
        </select>
      </div>
      <fieldset class="stack field">
        <legend>{t.preferences.kinds}</legend>
        <div class="choices">
          {kinds.map(({ name, label }) => (
            <label key={name} class="choice">
              <input type="checkbox" name={name} defaultChecked={email[name]} />
              {label}
            </label>
          ))}
        </div>
      </fieldset>
    </Form>
  );
}
