import { useState } from 'preact/hooks';
import { dure, type ReceivedRequest } from '../api.ts';
import { ConfirmDialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLanguage } from '../texts/language.tsx';

interface AnswerRequestProps {
  id: number;
  storeName: string;
  onAnswered: (request: ReceivedRequest) => void;
}

/** Accepts or declines a request that waits for a response. */
export function AnswerRequest({ id, storeName, onAnswered }: AnswerRequestProps) {
  const { t } = useLanguage();
  const { show } = useToasts();
  const [isDeclining, setDeclining] = useState(false);
  return (
    <>
      <Form
        submitLabel={t.requests.accept}
        onSubmit={async () => {
          onAnswered(await dure.partnerRequests.accept({ id }));
          show(t.requests.accepted(storeName));
        }}
        actions={
          <button type="button" class="button" onClick={() => setDeclining(true)}>
            {t.requests.decline}
          </button>
        }
      />
      {isDeclining && (
        <ConfirmDialog
          title={t.requests.declineTitle}
          text={t.requests.declineText(storeName)}
          confirmLabel={t.requests.decline}
          onClose={() => setDeclining(false)}
          onConfirm={async () => onAnswered(await dure.partnerRequests.decline({ id }))}
        />
      )}
    </>
  );
}
