import { useEffect } from 'react';
import { useLocation, useNavigate } from 'react-router';

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
export function useBackLink(to: string) {
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
