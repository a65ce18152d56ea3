import { useId } from 'preact/hooks';
import { dure, type Preferences as Saved } from '../api.ts';
import { Checkbox, ErrorTexts, TextField } from '../components/field.tsx';
import { Form, useFieldErrors } from '../components/form.tsx';
import { LoadError, Skeleton } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { useLanguage } from '../texts/language.tsx';

/** Which emails and push messages the account gets, when, and in which language. */
export function Preferences() {
  const { t } = useLanguage();
  const { value, error, reload } = useLoad(
    (signal) => dure.notifications.getMailPreferences({}, { signal }),
    [],
  );
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

const kinds = [
  'partner_request_received',
  'partner_request_answered',
  'partner_request_ended',
  'saved_search_match',
] as const;

function PreferencesForm({ preferences }: { preferences: Saved }) {
  const { t } = useLanguage();
  const { show } = useToasts();
  const id = useId();
  async function save(read: (name: string) => string, data: FormData) {
    const [from, to] = [read('from'), read('to')];
    const chosen = (channel: 'email' | 'push') =>
      Object.fromEntries(kinds.map((kind) => [kind, data.has(`${channel}.${kind}`)]));
    await dure.notifications.updateMailPreferences({
      language: read('language') === 'en' ? 'en' : 'ko',
      email: chosen('email'),
      push: chosen('push'),
      quiet_hours: from || to ? { from, to } : null,
    });
    show(t.common.saved);
  }

  return (
    <Form submitLabel={t.common.save} onSubmit={save}>
      {(['push', 'email'] as const).map((channel) => (
        <fieldset key={channel} class="field">
          <legend>{t.preferences.channels[channel]}</legend>
          <div class="choices">
            {kinds.map((kind) => (
              <Checkbox
                key={kind}
                name={`${channel}.${kind}`}
                label={t.preferences.kinds[kind]}
                defaultChecked={preferences[channel][kind]}
              />
            ))}
          </div>
        </fieldset>
      ))}
      <QuietHours hours={preferences.quiet_hours} />
      <div class="field">
        <label for={id}>{t.preferences.language}</label>
        <select id={id} class="input" name="language" defaultValue={preferences.language}>
          <option value="ko" lang="ko">
            {t.preferences.languages.ko}
          </option>
          <option value="en" lang="en">
            {t.preferences.languages.en}
          </option>
        </select>
      </div>
    </Form>
  );
}

function QuietHours({ hours }: { hours: Saved['quiet_hours'] }) {
  const { t } = useLanguage();
  const id = useId();
  const errors = useFieldErrors('quiet_hours');
  return (
    <fieldset class="field" aria-describedby={`${id}-hint ${id}-error`}>
      <legend>{t.preferences.quietHours}</legend>
      <p class="hint" id={`${id}-hint`}>
        {t.preferences.quietHoursHint}
      </p>
      <div class="row">
        <TextField name="from" type="time" optional label={t.preferences.from} defaultValue={hours?.from} />
        <TextField name="to" type="time" optional label={t.preferences.to} defaultValue={hours?.to} />
      </div>
      <ErrorTexts id={`${id}-error`} errors={errors} />
    </fieldset>
  );
}
