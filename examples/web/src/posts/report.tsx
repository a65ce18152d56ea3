import type { Input } from '@dure/client';
import { useState } from 'react';
import { toast } from 'react-hot-toast/headless';
import { t } from '../text.ts';
import { CancelButton, Checkbox, Dialog, Fieldset, Form, TextArea } from '../ui/index.ts';

type Fields = Pick<Input<'reportPost'>, 'reason' | 'text'>;

/** A button that tells the operators what is wrong with a post or a store. */
export function Report({ send }: { send: (fields: Fields) => Promise<unknown> }) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState<Fields['reason']>('spam');
  const title = t('신고하기', 'Report');
  const reasons = [
    ['spam', t('광고나 도배', 'Advertising or spam')],
    ['fraud', t('사기나 거짓 정보', 'Fraud or false information')],
    ['abuse', t('욕설이나 혐오', 'Insults or hate')],
    ['other', t('그 밖의 문제', 'Something else')],
  ] as const;

  async function submit(read: (name: string) => string) {
    await send({ reason, text: read('text') });
    toast(t('신고를 접수했습니다. 살펴보겠습니다.', 'Thank you. We will look into it.'));
    setOpen(false);
  }

  return (
    <>
      <button type="button" className="button plain small" onClick={() => setOpen(true)}>
        {title}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <Form
            submitLabel={title}
            onSubmit={submit}
            actions={<CancelButton onClick={() => setOpen(false)} />}
          >
            <Fieldset name="reason" legend={t('어떤 문제가 있나요?', 'What is wrong?')}>
              {() =>
                reasons.map(([value, label]) => (
                  <Checkbox
                    key={value}
                    type="radio"
                    name="reason"
                    label={label}
                    checked={reason === value}
                    onChange={() => setReason(value)}
                  />
                ))
              }
            </Fieldset>
            <TextArea name="text" label={t('자세한 내용', 'Details')} optional maxLength={1000} />
          </Form>
        </Dialog>
      )}
    </>
  );
}
