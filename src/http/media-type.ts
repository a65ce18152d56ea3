import Negotiator from 'negotiator';

/** Whether a client asks for a page, as browsers do; `*` alone is no wish. */
export function prefersHtml(accept: string | undefined): boolean {
  const types = ['application/json', 'text/html'];
  return new Negotiator({ headers: { accept } }).mediaType(types) === 'text/html';
}
