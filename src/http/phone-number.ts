/** What people type between groups of digits: `02) 123-4567`, `010.1234.5678`, `010 - 1234 - 5678`. */
const separators = /\s*[-.)\u2010-\u2015\u2212]\s*|\s+/g;

/**
 * Groups of digits joined by hyphens. With a leading 0 a Korean number: area or service code, 3 or 4 digits, 4 digits. Else 8 to
 * 15 digits (ITU-T E.164 has 15 at most): a nationwide number as 1588-1234, or one that begins with its country code. A check of
 * the database says the same.
 */
const phoneNumber = /^(0[1-9]\d{0,2}-?\d{3,4}-?\d{4}|[1-9](-?\d){7,14})$/;

/** Digits of a Korean number: `02` or a code of three digits, or `050x`; or a nationwide number such as 1588-1234. */
const koreanGroups = /^(02|050\d|0\d\d)(\d{3,4})(\d{4})$|^(1[5-9]\d\d)(\d{4})$/;

/**
 * Brings a phone number into the shape in which it is kept: digits in groups joined by hyphens. The country code of Korea becomes
 * the leading 0, and digits without groups get the usual ones.
 *
 * @returns undefined for what is neither a phone number nor empty
 */
export function cleanPhoneNumber(text: string): string | undefined {
  if (text === '') return text;
  // In +82 (0)10 the 0 is dialled at home only.
  const grouped = text
    .replace(/^(\+\d+|82)([\s.-]*)\(0\)/, '$1$2')
    .replaceAll('(', '')
    .replace(separators, '-');
  // Without +, 82 is the country code where a Korean number follows. Nationwide numbers have no leading 0.
  const national = grouped
    .replace(/^(?:\+82|82(?=-?0?[1-9]\d{0,2}-?\d{3,4}-?\d{4}$))(?!-?1[5-9]\d\d-?\d{4}$)-?0?/, '0')
    .replace(/^\+?(82-?(?=1[5-9]\d\d-?\d{4}$))?/, '');
  if (!phoneNumber.test(national)) return undefined;
  if (/^\d+-\d{3,4}-\d{4}$|^[1-9]\d*-/.test(national)) return national;
  const [, ...groups] = koreanGroups.exec(national.replaceAll('-', '')) ?? [];
  return groups.filter(Boolean).join('-') || national;
}
