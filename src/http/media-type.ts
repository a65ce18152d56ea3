import Negotiator from 'negotiator';

/** Whether a client prefers HTML, as browsers do. A type for anything, such as that of curl, does not count. */
export function prefersHtml(accept: string | undefined): boolean {
  const types = ['application/json', 'text/html'];
  return new Negotiator({ headers: { accept } }).mediaType(types) === 'text/html';
}
