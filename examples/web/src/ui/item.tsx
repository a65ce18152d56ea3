import type { ReactNode } from 'react';
import './item.css';

interface ItemProps {
  title: ReactNode;
  /** The level below the heading around. */
  heading?: 'h2' | 'h3';
  /** What can be done with it, or its state. */
  actions?: ReactNode;
  /** Facts about it. */
  children?: ReactNode;
  /** What else it has. */
  below?: ReactNode;
}

/** An entry of a list. */
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
