import { NetworkError } from '@dure/client';
import {
  useDure,
  useInfiniteList,
  useLiveNotifications,
  useMutation,
  useObject,
  useSession,
} from '@dure/react';
import { keepPreviousData, skipToken, useQueryClient } from '@tanstack/react-query';
import { createElement, useEffect } from 'react';

/** What a page that was shown had of whom. */
export interface Shown {
  userId: number | null;
  status: string;
  reason: string | undefined;
  name: string | undefined;
  store: string | undefined;
  posts: (string | undefined)[];
  renamed: string | undefined;
  failed: boolean;
  written: string;
  /** Whether nothing was read that has no input yet. */
  skipped: boolean;
  unreadCount: number;
  live: string;
  /** Whose data is kept. */
  kept: unknown[];
}

declare global {
  /** All that was shown, in order. */
  var shown: Shown[];
  var rename: (input: { name: string }) => void;
  var write: (input: { title: string; content: string; images: string[] }) => void;
}

/** A page for react.test.ts, which runs it in a browser. */
export function Account() {
  const dure = useDure();
  const queries = useQueryClient();
  const { status, userId, reason, user } = useSession();
  const page = useObject(dure.stores.getMyPage, {}, { placeholderData: keepPreviousData });
  const list = useInfiniteList(dure.posts.list, { limit: 1 });
  const firstPage = useObject(dure.posts.list, { limit: 1 });
  const post = useObject(dure.posts.get, skipToken);
  const posts = useInfiniteList(dure.posts.list, skipToken);
  const rename = useMutation(dure.auth.updateCurrentUser);
  const write = useMutation(dure.posts.create);
  useObject(dure.stores.listCategories);
  const { unreadCount, status: live } = useLiveNotifications();
  useEffect(() => {
    globalThis.rename = rename.mutate;
    globalThis.write = write.mutate;
    globalThis.shown ??= [];
    globalThis.shown.push({
      userId,
      status,
      reason,
      name: user?.name,
      store: page.data?.store?.name,
      posts: [list.items[0]?.title, firstPage.data?.items[0]?.title],
      renamed: rename.data?.name,
      written: write.status,
      failed: rename.error instanceof NetworkError,
      skipped: [post, posts].every(
        ({ status, fetchStatus }) => status === 'pending' && fetchStatus === 'idle',
      ),
      unreadCount,
      live,
      kept: queries
        .getQueryCache()
        .findAll()
        .map(({ queryKey }) => queryKey[1]),
    });
  });
  return createElement('p', null, 'account');
}
