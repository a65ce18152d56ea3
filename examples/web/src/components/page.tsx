import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useLanguage } from '../texts/language.tsx';
import { BackIcon } from './icons.tsx';

/** The browser itself announces the page that it opens first. */
let isFirstPage = true;

interface PageProps {
  title: string;
  lead?: string;
  /** Controls beside the heading. */
  actions?: ComponentChildren;
  /** The page above this one. */
  back?: { href: string; label: string };
  width?: 'narrow' | 'form-page';
  children: ComponentChildren;
}

/** The frame of a view: its title, and its only h1, which takes the focus so that screen readers read it after a navigation. */
export function Page({ title, lead, actions, back, width, children }: PageProps) {
  const { t } = useLanguage();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${t.brand}`;
  }, [title, t]);
  useLayoutEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return (
    <div class={width}>
      {back && (
        <a class="back" href={back.href}>
          <BackIcon />
          {back.label}
        </a>
      )}
      <div class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions}
        {lead && <p class="lead">{lead}</p>}
      </div>
      {children}
    </div>
  );
}
