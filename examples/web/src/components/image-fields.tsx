import { useId, useState } from 'preact/hooks';
import { useLanguage } from '../texts/language.tsx';
import { ErrorTexts } from './field.tsx';
import { useFieldErrors, useItemErrors } from './form.tsx';

const maxImages = 10;

/** Addresses of pictures. Empty inputs are not sent. */
export function ImageFields({ urls }: { urls: string[] }) {
  const { t } = useLanguage();
  const id = useId();
  const [values, setValues] = useState(urls.length > 0 ? urls : ['']);
  const itemErrors = useFieldErrors('images');
  const isAboutAll = itemErrors.length > 0 && values.every((value) => value === '');
  return (
    <fieldset class="stack field" aria-describedby={`${id}-hint`}>
      <legend>{t.images.title}</legend>
      <p class="hint" id={`${id}-hint`}>
        {t.images.hint}
      </p>
      {values.map((value, index) => (
        <ImageField
          key={index}
          number={index + 1}
          value={value}
          sentIndex={value === '' ? undefined : values.slice(0, index).filter(Boolean).length}
          onChange={(changed) => setValues(values.with(index, changed))}
          onRemove={values.length > 1 ? () => setValues(values.toSpliced(index, 1)) : undefined}
        />
      ))}
      {isAboutAll && <ErrorTexts id={`${id}-error`} errors={itemErrors} />}
      {values.length < maxImages && (
        <div>
          <button type="button" class="button" onClick={() => setValues([...values, ''])}>
            {t.images.add}
          </button>
        </div>
      )}
    </fieldset>
  );
}

interface ImageFieldProps {
  number: number;
  value: string;
  /** Its position among those that are sent. */
  sentIndex: number | undefined;
  onChange: (value: string) => void;
  onRemove: (() => void) | undefined;
}

function ImageField({ number, value, sentIndex, onChange, onRemove }: ImageFieldProps) {
  const { t } = useLanguage();
  const id = useId();
  const errors = useItemErrors('images', sentIndex ?? -1);
  return (
    <div class="field">
      <div class="input-row">
        <input
          class="input"
          type="url"
          name="images"
          value={value}
          aria-label={t.images.label(number)}
          aria-invalid={errors.length > 0}
          aria-describedby={errors.length > 0 ? id : undefined}
          placeholder="https://"
          autocapitalize="none"
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value.trim())}
        />
        {onRemove && (
          <button type="button" class="button" onClick={onRemove}>
            {t.common.remove}
            <span class="visually-hidden"> {t.images.label(number)}</span>
          </button>
        )}
      </div>
      <ErrorTexts id={id} errors={errors} />
    </div>
  );
}
