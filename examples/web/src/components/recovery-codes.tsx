import { useAttempt } from '../hooks/use-attempt.ts';
import { useLanguage } from '../texts/language.tsx';
import { useToasts } from './toasts.tsx';

/** The recovery codes, which the service shows once. */
export function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept: () => void }) {
  const { t } = useLanguage();
  const { show } = useToasts();
  const attempt = useAttempt();
  const text = `${t.brand} ${t.twoStep.codes}\n${codes.join('\n')}\n`;
  return (
    <>
      <h3>{t.twoStep.codes}</h3>
      <p class="note warn">{t.twoStep.codesText}</p>
      <ul class="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div class="row">
        <button
          type="button"
          class="button"
          onClick={() =>
            attempt(async () => {
              await navigator.clipboard.writeText(text);
              show(t.common.copied);
            })
          }
        >
          {t.common.copy}
        </button>
        <a
          class="button"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          download="dure-recovery-codes.txt"
        >
          {t.twoStep.download}
        </a>
        <button type="button" class="button primary" onClick={onKept}>
          {t.twoStep.codesKept}
        </button>
      </div>
    </>
  );
}
