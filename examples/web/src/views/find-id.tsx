import { dure } from '../api.ts';
import { useLanguage } from '../texts/language.tsx';
import { MailRequest } from './mail-request.tsx';

/** Asks for an email with the forgotten username. */
export function FindIdView() {
  const { t } = useLanguage();
  return (
    <MailRequest
      title={t.findId.title}
      lead={t.findId.lead}
      submitLabel={t.findId.submit}
      send={async (email) => (await dure.request('findUserId', { email })).message}
    />
  );
}
