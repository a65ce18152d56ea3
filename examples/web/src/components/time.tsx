import { describeTime } from '../texts/dates.ts';
import { useLanguage } from '../texts/language.tsx';

/** When something happened, as people say it; the exact time is in the title. */
export function Time({ moment }: { moment: string }) {
  const { language } = useLanguage();
  return (
    <time dateTime={moment} title={new Date(moment).toLocaleString(language)}>
      {describeTime(moment, language)}
    </time>
  );
}
