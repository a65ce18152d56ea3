import { type Client, isApiError } from '@dure/client';
import {
  DureProvider,
  queryKey,
  useDure,
  useInfiniteList,
  useLiveNotifications,
  useMutation,
  useObject,
  useSession,
} from '@dure/react';
import { keepPreviousData, QueryClient, skipToken } from '@tanstack/react-query';

/*
 * What an app that is written against the package may and may not do. It is never run: the type checkers of this repository
 * and of package.test.ts check it. Each line after `@ts-expect-error` must be an error.
 */

export function Provider({ client }: { client: Client }) {
  DureProvider({ client, queryClient: new QueryClient(), children: null });
  // @ts-expect-error a client is required
  DureProvider({ children: null });
  return DureProvider({ client, children: null });
}

export function Reading(): (string | undefined)[] {
  const dure = useDure();
  const post = useObject(dure.posts.get, { post_id: 7 }, { enabled: true, staleTime: 1_000 });
  const categories = useObject(dure.stores.listCategories, {}, { initialData: { items: [] } });
  const posts = useInfiniteList(dure.posts.list, { q: '꽃' }, { placeholderData: keepPreviousData });
  useInfiniteList(dure.posts.list);
  const title = useObject(dure.posts.get, { post_id: 7 }, { select: (post) => post.title });
  useObject(dure.posts.get, posts.items[0] ? { post_id: posts.items[0].id } : skipToken);
  useInfiniteList(dure.posts.list, skipToken);
  void posts.fetchNextPage();
  // @ts-expect-error post_id is required
  useObject(dure.posts.get);
  // @ts-expect-error post_id is a number
  useObject(dure.posts.get, { post_id: '7' });
  // @ts-expect-error what changes something is not read again and again
  useObject(dure.posts.create, { title: '꽃집을 찾아요', content: '함께 팔아요.' });
  // @ts-expect-error the key is that of the account
  useObject(dure.posts.get, { post_id: 7 }, { queryKey: ['post'] });
  // @ts-expect-error a list of posts has no input named box
  useInfiniteList(dure.posts.list, { box: 'sent' });
  // @ts-expect-error the pages are read one after the other
  useInfiniteList(dure.posts.list, { cursor: 'abc' });
  // @ts-expect-error a post is not a list
  useInfiniteList(dure.posts.get, { post_id: 7 });
  // @ts-expect-error categories have no pages
  useInfiniteList(dure.stores.listCategories);
  // @ts-expect-error there may be nothing yet
  post.data.title;
  // @ts-expect-error a post has no password
  post.data?.password;
  return [title.data, post.data?.title, categories.data?.items[0]?.name, posts.items[0]?.title];
}

export function Kept(queries: QueryClient): string | undefined {
  queries.setQueryData(queryKey(7, 'getPost', { post_id: 7 }), (post) => post && { ...post, title: '' });
  // @ts-expect-error a post is no text
  queries.setQueryData(queryKey(7, 'getPost', { post_id: 7 }), '');
  // @ts-expect-error there is no operation getPosts
  queryKey(7, 'getPosts');
  // @ts-expect-error nothing is kept of changes
  queryKey(7, 'createPost', { title: '꽃집을 찾아요', content: '함께 팔아요.' });
  // @ts-expect-error post_id is required
  queryKey(7, 'getPost');
  // @ts-expect-error post_id is a number
  queryKey(7, 'getPost', { post_id: '7' });
  return queries.getQueryData(queryKey(7, 'listPosts'))?.items[0]?.title;
}

export function Changing(): string {
  const dure = useDure();
  const logOut = useMutation(dure.auth.logOut);
  const create = useMutation(dure.posts.create, { onSuccess: ({ title }) => title.trim() });
  const upload = useMutation(dure.images.upload, { call: { onUploadProgress: ({ loaded }) => loaded } });
  logOut.mutate();
  create.mutate({ title: '꽃집을 찾아요', content: '함께 팔아요.' }, { onSettled: () => create.reset() });
  upload.mutate({ image: new Blob([]) });
  // @ts-expect-error a title is required
  create.mutate({ content: '함께 팔아요.' });
  // @ts-expect-error an input is required
  create.mutate();
  // @ts-expect-error the function is that of the operation
  useMutation(dure.posts.create, { mutationFn: async () => undefined });
  // @ts-expect-error a mutation is made of an operation, not of its name
  useMutation('createPost');
  if (!isApiError(create.error, 'createPost')) return '';
  // @ts-expect-error not every input is wrong
  create.error.fields.title.map((text) => text.trim());
  // @ts-expect-error a code of another operation
  if (create.error.code === 'email_taken') return '';
  return create.error.code === 'validation_error' ? (create.error.fields['title']?.[0] ?? '') : '';
}

export function Live(): string {
  const { status, userId, user, reason } = useSession();
  const live = useLiveNotifications({ onNotification: ({ message }) => message.trim() });
  // @ts-expect-error there is no status offline
  if (live.status === 'offline') return '';
  // @ts-expect-error there is no status signedIn
  if (status === 'signedIn') return '';
  // @ts-expect-error the user is read after the page is shown
  user.name;
  const id: number = status === 'signed_in' ? userId : 0;
  return `${status} ${id} ${user?.name} ${reason} ${live.unreadCount}`;
}
