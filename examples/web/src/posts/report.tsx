import type { Input } from '@dure/client';
import { t } from '../text.ts';
import { AskButton, Checkbox, Fieldset, TextArea } from '../ui/index.ts';

type Fields = Pick<Input<'reportPost'>, 'reason' | 'text'>;

const reasons = [
  ['spam', t('광고나 도배', 'Advertising or spam')],
  ['fraud', t('사기나 거짓 정보', 'Fraud or false information')],
  ['abuse', t('욕설이나 혐오', 'Insults or hate')],
  ['other', t('그 밖의 문제', 'Something else')],
] as const;

/** A button that tells the operators what is wrong with a post or a store. */
export function Report({ send }: { send: (fields: Fields) => Promise<unknown> }) {
  const values: Fields = { reason: 'spam', text: '' };
  return (
    <AskButton
      look="plain small"
      label={t('신고하기', 'Report')}
      values={values}
      pendingLabel={t('신고하는 중…', 'Reporting…')}
      onConfirm={send}
    >
      <Fieldset name="reason" legend={t('어떤 문제가 있나요?', 'What is wrong?')}>
        {reasons.map(([value, label]) => (
          <Checkbox key={value} type="radio" name="reason" value={value} label={label} />
        ))}
      </Fieldset>
      <TextArea name="text" label={t('자세한 내용', 'Details')} optional maxLength={1000} />
    </AskButton>
  );
}
