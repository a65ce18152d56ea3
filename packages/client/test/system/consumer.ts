import {
  type ApiErrorOf,
  type BaseClient,
  type Client,
  getPost,
  type Item,
  isApiError,
  items,
  LoginWithError,
  listPosts,
  logIn,
  NetworkError,
  type Output,
  type PartnerRequestDetail,
  PartnerRequestStatus,
  type Post,
  pages,
  streamNotifications,
  supportsPasskeys,
} from '@dure/client';

/*
 * What an app that is written against the package may and may not do. It is never run: the type checkers of this repository
 * and of package.test.ts check it. Each line after `@ts-expect-error` must be an error.
 */

/** Whether two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export async function inputs(dure: Client): Promise<void> {
  await dure.auth.logOut();
  await dure.posts.list();
  const timeout = 50;
  await dure.posts.list({ q: undefined }, { signal: AbortSignal.timeout(timeout), timeout });
  await dure.posts.update({ post_id: 1, title: '새 제목' });
  await dure.notifications.markRead({ up_to_id: 7 });
  await dure.notifications.markRead({ ids: [7] });
  // @ts-expect-error post_id is required
  await dure.posts.get();
  // @ts-expect-error post_id is required
  await dure.posts.update({ title: '새 제목' });
  // @ts-expect-error getPost has no input named title
  await dure.posts.get({ post_id: 1, title: '새 제목' });
  // @ts-expect-error post_id is a number
  await dure.posts.get({ post_id: '1' });
  // @ts-expect-error session_id is a UUID
  await dure.auth.endSession({ session_id: '.' });
  for (const { id } of (await dure.auth.listSessions()).items) await dure.auth.endSession({ session_id: id });
  // @ts-expect-error box is 'received' or 'sent'
  await dure.partnerRequests.list({ box: 'outbox' });
  // @ts-expect-error either ids or up_to_id is required
  await dure.notifications.markRead({});
  // @ts-expect-error a stream is not a method of its own but notifications.subscribe
  await dure.streamNotifications();
  // @ts-expect-error there is no operation getPosts
  await dure.request('getPosts');
}

export async function outputs(dure: Client): Promise<string[]> {
  const user: Output<'getCurrentUser'> = await dure.auth.getCurrentUser();
  const { data, message, requestId } = await dure.request('getPost', { post_id: 1 });
  const same: Same<typeof data, Output<'getPost'>> = true;
  // @ts-expect-error responses have no password
  user.password;
  const found: string[] = [user.name, message, requestId ?? '', String(same)];
  for await (const post of items(dure.posts.list, { q: '꽃' })) found.push(post.title);
  for await (const page of pages(dure.auth.listSessions, { limit: 5 })) found.push(page.items[0]?.ip ?? '');
  const post = (await dure.posts.list()).items[0] satisfies Item<'listPosts'> | undefined;
  // @ts-expect-error listPosts has no input named box
  items(dure.posts.list, { box: 'sent' });
  // @ts-expect-error getPost is not a list
  items(dure.posts.get, { post_id: 1 });
  return [...found, post?.title ?? ''];
}

export async function models(dure: Client): Promise<Post | undefined> {
  const request: PartnerRequestDetail = await dure.partnerRequests.get({ partner_request_id: 1 });
  const status: PartnerRequestStatus = request.status;
  // @ts-expect-error there is no status Lost
  PartnerRequestStatus.Lost;
  const requested: '요청됨' = PartnerRequestStatus.Requested;
  const post: Post = await dure.posts.create({ title: '꽃집을 찾아요', content: '함께 팔아요.' });
  return status === requested ? post : undefined;
}

export async function someOperations(dure: BaseClient): Promise<string[]> {
  const found: string[] = [(await dure.method(logIn)({ username: 'x', password: 'y' })).user.name];
  const list = dure.method(listPosts);
  for await (const post of items(list, { q: '꽃' })) found.push(post.title);
  // @ts-expect-error post_id is required
  dure.method(getPost)();
  // @ts-expect-error a stream is not a method
  dure.method(streamNotifications);
  return found;
}

export function failures(error: unknown): string {
  if (error instanceof NetworkError) return String(error.cause);
  if (!isApiError(error, 'createPartnerRequest')) return isApiError(error) ? error.code : '';
  const narrowed: Same<typeof error, ApiErrorOf<'createPartnerRequest'>> = true;
  // @ts-expect-error not every input is wrong
  error.fields['message'].join();
  switch (error.code) {
    case 'already_requested': {
      const code: 'already_requested' = error.data.code;
      return code;
    }
    case 'validation_error': {
      const fields: Record<string, string[]> | undefined = error.data.fields;
      return fields?.['message']?.[0] ?? error.fields['message']?.[0] ?? error.errors[0]?.code ?? '';
    }
    case 'rate_limited': {
      const seconds: number | undefined = error.data.retry_after ?? error.retryAfter;
      return String(seconds);
    }
    // @ts-expect-error a code of another operation
    case 'email_taken':
      return '';
    default:
      return `${error.message} ${error.requestId ?? ''} ${narrowed}`;
  }
}

export async function waysToLogIn(dure: Client, error: unknown): Promise<string> {
  await dure.auth.loginWith('kakao', { purpose: 'link', returnTo: '/' });
  // @ts-expect-error there is no purpose signup
  await dure.auth.loginWith('kakao', { purpose: 'signup' });
  if (supportsPasskeys()) await dure.passkeys.register({ name: '내 휴대폰' });
  const { user } = await dure.passkeys.logIn({ conditional: true });
  if (isApiError(error, 'logIn') && error.code === 'second_factor_required') {
    const { second_factor_token } = error.data;
    await dure.auth.finishLogin({ second_factor_token, code: '042317' });
  }
  if (error instanceof LoginWithError && error.code === 'declined') return error.message;
  const result = await dure.auth.finishLoginWith();
  const statuses: Same<
    (typeof result)['status'],
    'logged_in' | 'sign_up_required' | 'second_factor_required' | 'link_required' | 'linked' | 'confirmed'
  > = true;
  if (result.status === 'sign_up_required') return result.suggested.email ?? result.token;
  return result.status === 'linked' ? result.identity.provider : `${statuses} ${user.id}`;
}

export function live(dure: Client): () => void {
  const seen: number[] = [];
  return dure.notifications.subscribe({
    after: 0,
    onNotification: async (notification) => {
      if (notification.kind !== 'partner_request_received') return;
      await dure.partnerRequests.accept({ partner_request_id: notification.partner_request.id });
    },
    onUnreadCount: ({ unread_count }) => seen.push(unread_count),
    // @ts-expect-error there is no status offline
    onStatus: (status) => status === 'offline',
  });
}
