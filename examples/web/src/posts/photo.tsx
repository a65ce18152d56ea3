import { m } from '../paraglide/messages.js';
import { Image } from '../ui/index.ts';

/** A photo, which the browser shows whole in a tab of its own, where it can be enlarged. */
export function Photo({ url, number }: { url: string; number: number }) {
  const name = m.photo({ number });
  return (
    <a href={url} target="_blank" rel="noreferrer" aria-label={m.enlarge({ name })}>
      <Image url={url} alt={name} />
    </a>
  );
}
