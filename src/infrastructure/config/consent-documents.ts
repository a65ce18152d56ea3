import type { Environment } from './environment.ts';

/** A document that users agree to, such as the terms of use. */
interface ConsentDocument {
  /** A date, as `2026-01-31`. */
  version: string;
  url: string;
}

/** The documents that are configured: none, the terms of use, or these and the privacy policy. */
export type ConsentDocuments = Partial<Record<'terms' | 'privacy', ConsentDocument>>;

/** @param problems gets one line for each variable that is missing or wrong */
export function readConsentDocuments(environment: Environment, problems: string[]): ConsentDocuments {
  const { TERMS_VERSION, TERMS_URL, PRIVACY_VERSION, PRIVACY_URL } = environment;
  const terms = readDocument('TERMS', TERMS_VERSION, TERMS_URL, problems);
  const privacy = readDocument('PRIVACY', PRIVACY_VERSION, PRIVACY_URL, problems);
  if (privacy && !terms) problems.push('TERMS_VERSION must be set with PRIVACY_VERSION');
  return { ...(terms && { terms }), ...(privacy && { privacy }) };
}

function readDocument(
  name: string,
  version: string | undefined,
  url: string | undefined,
  problems: string[],
): ConsentDocument | undefined {
  if (version !== undefined && !isDate(version)) {
    problems.push(`${name}_VERSION must be a date such as 2026-01-31`);
  }
  if ((version === undefined) !== (url === undefined)) {
    problems.push(`${name}_VERSION and ${name}_URL must be set together, or neither`);
  }
  return version === undefined ? undefined : { version, url: url ?? '' };
}

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(`${text}T`);
}
