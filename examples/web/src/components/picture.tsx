import { useEffect, useState } from 'preact/hooks';
import { StoreIcon } from './icons.tsx';

/** A picture in a frame of fixed shape. Pictures are on other people's servers: one that fails becomes a neutral drawing. */
export function Picture({ url, alt = '' }: { url: string | undefined; alt?: string }) {
  const [isBroken, setBroken] = useState(false);
  useEffect(() => setBroken(false), [url]);
  return (
    <div class="picture">
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
