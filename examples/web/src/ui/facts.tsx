import { Store } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { currentLanguage, describeTime } from '../text.ts';
import './facts.css';

/** When something happened, as people say it; the exact time is in the title. */
export function Time({ moment }: { moment: string }) {
  return (
    <time dateTime={moment} title={new Date(moment).toLocaleString(currentLanguage())}>
      {describeTime(moment)}
    </time>
  );
}

/** An image in a frame of fixed shape. Images are on other people's servers: one that fails becomes a neutral drawing. */
export function Image({ url, alt = '' }: { url: string | undefined; alt?: string }) {
  const [broken, setBroken] = useState<string>();
  return (
    <div className="image">
      {url && url !== broken ? (
        <img src={url} alt={alt} loading="lazy" referrerPolicy="no-referrer" onError={() => setBroken(url)} />
      ) : (
        <Store size={48} />
      )}
    </div>
  );
}

/** Facts with their labels; those without a value are left out. */
export function Facts({ facts }: { facts: Record<string, ReactNode> }) {
  const known = Object.entries(facts).filter(([, value]) => value);
  if (known.length === 0) return null;
  return (
    <dl className="facts">
      {known.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ItemProps {
  title: ReactNode;
  /** The level below the heading around. */
  heading?: 'h2' | 'h3';
  /** What can be done with it, or its state. */
  actions?: ReactNode;
  children?: ReactNode;
  below?: ReactNode;
}

export function Item({ title, heading: Heading = 'h3', actions, children, below }: ItemProps) {
  return (
    <article className="item">
      <div className="spread">
        <Heading>{title}</Heading>
        {actions}
      </div>
      {children && <p className="soft small">{children}</p>}
      {below}
    </article>
  );
}
