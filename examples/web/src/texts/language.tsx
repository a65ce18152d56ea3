import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { dure } from '../api.ts';
import { en } from './en.ts';
import { ko, type Texts } from './ko.ts';
import { type Language, preferredLanguage, rememberLanguage } from './preferred-language.ts';

const dictionaries: Record<Language, Texts> = { ko, en };

interface LanguageContext {
  language: Language;
  /** The texts of the app in that language. */
  t: Texts;
  setLanguage(language: Language): void;
}

const Context = createContext<LanguageContext | null>(null);

/** Provides the texts, and asks the service for its texts in the same language. */
export function LanguageProvider({ children }: { children: ComponentChildren }) {
  const [language, setLanguage] = useState(preferredLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const value = useMemo(() => {
    const choose = (chosen: Language) => {
      rememberLanguage(chosen);
      // Before the views render in it: what they load has texts of the service.
      dure.setLanguage(chosen);
      setLanguage(chosen);
    };
    return { language, t: dictionaries[language], setLanguage: choose };
  }, [language]);
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

/** The texts and the language of the app. */
export function useLanguage(): LanguageContext {
  const value = useContext(Context);
  if (value === null) throw new Error('useLanguage needs a LanguageProvider');
  return value;
}
