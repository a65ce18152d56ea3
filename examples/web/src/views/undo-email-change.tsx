import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Where the link of the mail about a changed address leads. A button, because programs that check emails open links, too. */
export function UndoEmailChangeView() {
  const { t } = useLanguage();
  const { query } = useLocation();
  const [isDone, setDone] = useState(false);
  return (
    <Page title={t.undoEmail.title} width="form-page">
      {isDone ? (
        <p class="note" role="status">
          {t.undoEmail.done}
        </p>
      ) : (
        <div class="stack">
          <p>{t.undoEmail.text}</p>
          <Form
            submitLabel={t.undoEmail.submit}
            onSubmit={async () => {
              await dure.auth.undoEmailChange({ token: query['token'] ?? '' });
              // All sessions have ended, also one of this browser, so that an error here changes nothing.
              if (dure.isSignedIn()) await dure.auth.logOut().catch(() => undefined);
              setDone(true);
            }}
          />
        </div>
      )}
    </Page>
  );
}
