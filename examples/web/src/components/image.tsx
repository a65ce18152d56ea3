import { useEffect, useState } from 'preact/hooks';
import { StoreIcon } from './icons.tsx';

/** An image in a frame of fixed shape. Images are on other people's servers: one that fails becomes a neutral drawing. */
export function Image({ url, alt = '' }: { url: string | undefined; alt?: string }) {
  const [isBroken, setBroken] = useState(false);
  useEffect(() => setBroken(false), [url]);
  return (
    <div class="image">
      {url && !isBroken ? (
        <img
          src={url}
          alt={alt}
          loading="lazy"
          referrerpolicy="no-referrer"
          onError={() => setBroken(true)}
        />
      ) : (
        <StoreIcon size={48} />
      )}
    </div>
  );
}
