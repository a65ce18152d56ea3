export type Language = 'ko' | 'en';

const storageKey = 'dure.language';

/** The language that the user chose here before, else that of the browser: Korean unless it prefers another one. */
export function preferredLanguage(): Language {
  const chosen = readChoice();
  if (chosen === 'ko' || chosen === 'en') return chosen;
  return navigator.language.toLowerCase().startsWith('ko') ? 'ko' : 'en';
}

/** Keeps the choice for the next visit, where the browser allows it. */
export function rememberLanguage(language: Language): void {
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}
