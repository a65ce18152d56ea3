import { dure } from '../api.ts';
import { useLanguage } from '../texts/language.tsx';
import { MailRequest } from './mail-request.tsx';

/** Asks for an email with a link that sets a new password. */
export function RequestResetView() {
  const { t } = useLanguage();
  return (
    <MailRequest
      title={t.requestReset.title}
      lead={t.requestReset.lead}
      submitLabel={t.requestReset.submit}
      send={async (email) => (await dure.request('requestPasswordReset', { email })).message}
    />
  );
}
