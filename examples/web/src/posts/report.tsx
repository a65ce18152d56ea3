import type { Input } from '@dure/client';
import { m } from '../paraglide/messages.js';
import { Checkbox, Fieldset, TextArea } from '../ui/fields.tsx';
import { AskButton } from '../ui/index.ts';

type Fields = Pick<Input<'reportPost'>, 'reason' | 'text'>;

const reasons = [
  ['spam', m.advertising_or_spam],
  ['fraud', m.fraud_or_false_information],
  ['abuse', m.insults_or_hate],
  ['other', m.something_else],
] as const;

/** A button that tells the operators what is wrong with a post or a store. */
export function Report({ send }: { send: (fields: Fields) => Promise<unknown> }) {
  const values: Fields = { reason: 'spam', text: '' };
  return (
    <AskButton look="plain small" label={m.report()} values={values} onConfirm={send}>
      <Fieldset name="reason" label={m.what_is_wrong()}>
        {reasons.map(([value, label]) => (
          <Checkbox key={value} type="radio" name="reason" value={value} label={label()} />
        ))}
      </Fieldset>
      <TextArea name="text" label={m.details()} optional maxLength={1000} />
    </AskButton>
  );
}
