import type { Input } from '@dure/client';
import { useId } from 'preact/hooks';
import type { Consent } from '../api.ts';
import type { Loaded } from '../hooks/use-load.ts';
import { useLanguage } from '../texts/language.tsx';
import { Checkbox, ErrorTexts } from './field.tsx';
import { useItemErrors } from './form.tsx';
import { LoadError } from './states.tsx';

/** What a new user is asked to agree to: nothing where the service has no terms. */
export function ConsentChoices({ consents }: { consents: Loaded<{ items: Consent[] }> }) {
  const { t } = useLanguage();
  if (consents.error !== undefined) return <LoadError error={consents.error} onRetry={consents.reload} />;
  if (!consents.value?.items.length) return null;
  return (
    <fieldset class="field">
      <legend>{t.consents.title}</legend>
      <Choice id="is_14_or_older" version="true" required />
      {consents.value.items.map((consent) => (
        <Choice key={consent.id} {...consent} />
      ))}
    </fieldset>
  );
}

interface ChoiceProps {
  id: string;
  version: string;
  url?: string;
  required: boolean;
}

function Choice({ id: name, version, url, required }: ChoiceProps) {
  const { t } = useLanguage();
  const id = useId();
  const errors = useItemErrors('consents', name);
  const title = t.consents.names[name] ?? name;
  return (
    <>
      <div class="spread">
        <Checkbox
          name={name}
          value={version}
          label={`${title} ${required ? t.consents.required : t.common.optional}`}
          aria-invalid={errors.length > 0}
          aria-describedby={errors.length > 0 ? id : undefined}
        />
        {url && (
          <a class="small" href={url} target="_blank" rel="noreferrer">
            {t.common.show}
            <span class="visually-hidden"> {title}</span>
          </a>
        )}
      </div>
      <ErrorTexts id={id} errors={errors} />
    </>
  );
}

/** What was chosen; the service says what is missing. */
export function consentsIn(data: FormData): Input<'signUp'>['consents'] {
  const version = (name: string) => (data.has(name) ? String(data.get(name)) : undefined);
  return {
    terms: version('terms'),
    privacy: version('privacy'),
    marketing: data.has('marketing'),
    is_14_or_older: data.has('is_14_or_older') || undefined,
  };
}
