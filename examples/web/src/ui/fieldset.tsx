import { type ReactNode, useId } from 'react';
import { t } from '../text.ts';
import { ErrorTexts } from './fields.tsx';
import { useFieldErrors } from './form.tsx';

interface FieldsetProps {
  /** Of the field of the API, whose errors are shown. */
  name: string;
  legend: string;
  hint?: string;
  optional?: boolean;
  children: (hasErrors: boolean) => ReactNode;
}

/** Several inputs for one field. */
export function Fieldset({ name, legend, hint, optional, children }: FieldsetProps) {
  const id = useId();
  const errors = useFieldErrors(name);
  return (
    <fieldset className="field" aria-describedby={`${id}-hint ${id}-error`}>
      <legend>
        {legend} {optional && <span className="optional">{t('(선택)', '(optional)')}</span>}
      </legend>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children(errors.length > 0)}
      <ErrorTexts id={`${id}-error`} errors={errors} />
    </fieldset>
  );
}
