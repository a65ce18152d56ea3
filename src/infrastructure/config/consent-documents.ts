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
  const terms = readDocument('TERMS', environment, problems);
  const privacy = readDocument('PRIVACY', environment, problems);
  if (privacy && !terms) problems.push('TERMS_VERSION must be set with PRIVACY_VERSION');
  return { ...(terms && { terms }), ...(privacy && { privacy }) };
}

function readDocument(name: 'TERMS' | 'PRIVACY', environment: Environment, problems: string[]) {
  const version = environment[`${name}_VERSION` as const];
  const url = environment[`${name}_URL` as const];
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
