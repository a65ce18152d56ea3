import t from 'tap';
import { quietUntil } from '../../src/infrastructure/quiet-hours.ts';

/** A time in Korea. */
const inKorea = (time: string, day = '2026-06-15') => new Date(`${day}T${time}+09:00`);

t.test('quiet hours begin with `from` and end before `to`, on the same day or after midnight', async (t) => {
  const tuesday = '2026-06-16';
  const night = { from: '22:00', to: '08:00' };
  const noon = { from: '12:30', to: '13:00' };
  const almostAll = { from: '08:00', to: '07:59' };
  const toMidnight = { from: '21:15', to: '00:00' };
  const fromMidnight = { from: '00:00', to: '23:59' };
  const cases: [hours: typeof night | null, now: Date, until: Date | undefined][] = [
    [null, inKorea('03:00'), undefined],
    [night, inKorea('21:59:59.999'), undefined],
    [night, inKorea('22:00'), inKorea('08:00', tuesday)],
    [night, inKorea('23:59:59.999'), inKorea('08:00', tuesday)],
    [night, inKorea('00:00', tuesday), inKorea('08:00', tuesday)],
    [night, inKorea('07:59:59.999'), inKorea('08:00')],
    [night, inKorea('08:00'), undefined],
    // 9 o'clock in Korea is midnight in UTC.
    [night, inKorea('08:59:59.999'), undefined],
    [night, inKorea('09:00'), undefined],
    [noon, inKorea('12:29:59.999'), undefined],
    [noon, inKorea('12:30'), inKorea('13:00')],
    [noon, inKorea('12:59:59.999'), inKorea('13:00')],
    [noon, inKorea('13:00'), undefined],
    [almostAll, inKorea('07:58:59.999'), inKorea('07:59')],
    [almostAll, inKorea('07:59'), undefined],
    [almostAll, inKorea('08:00'), inKorea('07:59', tuesday)],
    [toMidnight, inKorea('23:59:59.999'), inKorea('00:00', tuesday)],
    [toMidnight, inKorea('00:00'), undefined],
    [fromMidnight, inKorea('00:00'), inKorea('23:59')],
    [fromMidnight, inKorea('23:59'), undefined],
    // The end of a month and of a leap day, and a year of daylight saving time in Europe and America.
    [night, inKorea('23:30', '2026-12-31'), inKorea('08:00', '2027-01-01')],
    [night, inKorea('22:00', '2028-02-29'), inKorea('08:00', '2028-03-01')],
    [night, inKorea('01:30', '2026-03-29'), inKorea('08:00', '2026-03-29')],
  ];
  for (const [hours, now, until] of cases) {
    const what = `${hours?.from}-${hours?.to} at ${now.toISOString()}`;
    t.strictSame(quietUntil(now, hours)?.toISOString(), until?.toISOString(), what);
  }
});
