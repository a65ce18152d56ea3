import { type Inputs, useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** One page of any list of the API. */
export interface ListPage<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface PagesState<Item> {
  items: Item[];
  /** Undefined before the first page, null after the last one. */
  cursor: string | null | undefined;
  error: unknown;
  isLoading: boolean;
}

/** A list that grows by pages. */
export interface Pages<Item> extends PagesState<Item> {
  /** Loads the next page; after an error the same page again. */
  more(): void;
  /** Reads the first page again and puts what is new or changed into the list. */
  refresh(): Promise<void>;
  /** Changes or removes (`undefined`) single items. */
  update(change: (item: Item) => Item | undefined): void;
}

const nothing = { items: [], cursor: undefined, error: undefined, isLoading: true };

/** A search may answer with an empty page before its end; this many are skipped before the user has to ask for more. */
const maxEmptyPages = 5;

/**
 * Loads a list page by page, from the start when `inputs` change.
 *
 * @param load one page; without a cursor the first one
 */
export function usePages<Item extends { id: number | string }>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>,
  inputs: Inputs,
): Pages<Item> {
  const [state, setState] = useState<PagesState<Item>>(nothing);
  const controller = useRef(new AbortController());

  const loadFrom = useCallback(async (cursor: string | undefined) => {
    const { signal } = controller.current;
    try {
      let page = await load(cursor, signal);
      for (
        let skipped = 0;
        page.items.length === 0 && page.next_cursor !== null && skipped < maxEmptyPages;
        skipped += 1
      ) {
        page = await load(page.next_cursor, signal);
      }
      if (signal.aborted) return;
      setState(({ items }) => ({
        items: merge(items, page.items, 'end'),
        cursor: page.next_cursor,
        error: undefined,
        isLoading: false,
      }));
    } catch (error) {
      if (!signal.aborted) setState((current) => ({ ...current, error, isLoading: false }));
    }
  }, inputs);

  useEffect(() => {
    controller.current = new AbortController();
    setState(nothing);
    void loadFrom(undefined);
    return () => controller.current.abort();
  }, [loadFrom]);

  const more = useCallback(() => {
    setState((current) => ({ ...current, error: undefined, isLoading: true }));
    void loadFrom(state.cursor ?? undefined);
  }, [loadFrom, state.cursor]);

  const refresh = useCallback(async () => {
    const { signal } = controller.current;
    const page = await load(undefined, signal);
    if (!signal.aborted)
      setState((current) => ({ ...current, items: merge(current.items, page.items, 'start') }));
  }, inputs);

  const update = useCallback((change: (item: Item) => Item | undefined) => {
    setState((current) => ({ ...current, items: current.items.flatMap((item) => change(item) ?? []) }));
  }, []);

  return { ...state, more, refresh, update };
}

/** Items that came again replace the older ones in their place. */
function merge<Item extends { id: number | string }>(
  items: Item[],
  newer: Item[],
  at: 'start' | 'end',
): Item[] {
  const byId = new Map(newer.map((item) => [item.id, item]));
  const kept = items.map((item) => byId.get(item.id) ?? item);
  const known = new Set(items.map(({ id }) => id));
  const added = newer.filter(({ id }) => !known.has(id));
  return at === 'start' ? [...added, ...kept] : [...kept, ...added];
}
