import { ChevronLeft } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { m } from '../paraglide/messages.js';
import './page.css';

/** The browser itself announces the page that it opens first. */
let isFirstPage = true;

interface PageProps {
  title: string;
  lead?: string | undefined;
  actions?: ReactNode;
  back?: { to: string; label: string };
  width?: 'narrow' | 'form-page';
  children: ReactNode;
}

/** The frame of a view: its title, and its only h1, which takes the focus so that screen readers read it after a navigation. */
export function Page({ title, lead, actions, back, width, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const backLink = useBackLink(back?.to ?? '/');
  useEffect(() => {
    document.title = `${title} · ${m.dure()}`;
  }, [title]);
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return (
    <div className={width}>
      {back && (
        <Link className="back" {...backLink}>
          <ChevronLeft size={18} />
          {back.label}
        </Link>
      )}
      <div className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions}
        {lead && <p className="lead">{lead}</p>}
      </div>
      {width ? <div className="stack">{children}</div> : children}
    </div>
  );
}

/** The addresses of this visit, by their index in the history, which React Router keeps in its state. */
const visited: string[] = [];

const currentIndex = (): number => history.state?.idx ?? 0;

/** Remembers what is visited. Used once, in the shell. */
export function useVisited(): void {
  const { pathname, search } = useLocation();
  useEffect(() => {
    visited[currentIndex()] = pathname + search;
  }, [pathname, search]);
}

/** A link to the page above: goes back where the user comes from there, so that search, pages and scroll are as they were. */
function useBackLink(to: string) {
  const navigate = useNavigate();
  const before = visited[currentIndex() - 1];
  const pathOf = (address: string) => address.split('?')[0];
  if (before === undefined || pathOf(before) !== pathOf(to)) return { to };
  return {
    to: before,
    onClick(event: { preventDefault(): void }) {
      event.preventDefault();
      navigate(-1);
    },
  };
}

interface CardProps {
  id?: string;
  title: ReactNode;
  text?: string;
  chip?: string | false | undefined;
  children?: ReactNode;
}

export function Card({ id, title, text, chip, children }: CardProps) {
  return (
    <section className="card stack" id={id}>
      <h2>
        {title} {chip && <span className="chip">{chip}</span>}
      </h2>
      {text && <p className="soft">{text}</p>}
      {children}
    </section>
  );
}

/** Links between pages of one kind. @param tabs labels by path */
export function Tabs({ tabs, ...page }: { label: string; tabs: Record<string, string>; current: string }) {
  return (
    <nav className="tabs" aria-label={page.label}>
      {Object.entries(tabs).map(([path, name]) => (
        <Link key={path} to={path} aria-current={path === page.current ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
