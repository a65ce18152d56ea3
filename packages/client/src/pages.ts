import type { CallOptions } from './types.ts';

/** A page as all lists of the API have it. */
interface Page {
  items: readonly unknown[];
  next_cursor: string | null;
}

type List<Input, ListPage> = (input?: Input, options?: CallOptions) => Promise<ListPage>;

/** The pages of a list: `for await (const page of pages(client.posts.list, { q: '꽃' }))`. */
export function pages<Input extends { cursor?: string | undefined }, ListPage extends Page>(
  list: List<Input, ListPage>,
  input?: NoInfer<Input>,
  options?: CallOptions,
): AsyncGenerator<ListPage, void, undefined>;
export async function* pages(
  list: List<object, Page>,
  input?: object,
  options?: CallOptions,
): AsyncGenerator<Page, void, undefined> {
  let page = await list(input, options);
  yield page;
  // A search may return a short or empty page before the end.
  while (page.next_cursor !== null) {
    page = await list({ ...input, cursor: page.next_cursor }, options);
    yield page;
  }
}

/** The entries of all pages, which are read as needed. */
export function items<Input extends { cursor?: string | undefined }, ListPage extends Page>(
  list: List<Input, ListPage>,
  input?: NoInfer<Input>,
  options?: CallOptions,
): AsyncGenerator<ListPage['items'][number], void, undefined>;
export async function* items(
  list: List<object, Page>,
  input?: object,
  options?: CallOptions,
): AsyncGenerator<unknown, void, undefined> {
  for await (const page of pages(list, input, options)) yield* page.items;
}
