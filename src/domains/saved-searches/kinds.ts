import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import { button, mailKind, quote, writeMail } from '../../infrastructure/mail/content.ts';
import type { MailComposers } from '../../infrastructure/mail/sending.ts';
import { findMatch, findRecipient } from './repository.ts';

/** What recipients of emails and push messages switch on and off: the name, and what the API says about either. */
export const savedSearchTopics = {
  saved_search_match: {
    name: { ko: '저장한 검색에 맞는 새 글', en: 'new posts that match your saved searches' },
    email: 'A new post matches a saved search; off by default',
    push: 'A new post matches a saved search; on by default',
  },
};

type Subject = { post: { title: string }; store: { name: string } };
/** What an email about a match says: the store wrote the post. */
type MailFields = Record<'name' | 'searchName' | 'storeName' | 'postTitle' | 'url', string>;

/** The path of the page about a match, and of that with all posts. */
export const matchPage = (postId: number) => `posts/${postId}`;
export const digestPage = '';

const mailed = {
  priority: 10,
  // Apart from those about partnerships, which must not be left out because of them. With room for the digest of the day.
  cap: { purpose: 'saved_search_match', perHour: 21 },
  reason: {
    ko: '저장한 검색의 메일 알림을 켜 두신 분께 보내 드리는 메일입니다.',
    en: 'You get this email because you switched on emails about your saved searches.',
  },
} as const;

const posts = (count: number) => (count === 1 ? '1 more new post' : `${count} more new posts`);

export const savedSearchKinds = {
  saved_search_match: {
    description: 'The post matches a saved search of the user',
    title: { ko: '저장한 검색에 맞는 새 글', en: 'New post for your saved search' },
    sentence: ({ store, post }: Subject) => ({
      ko: `${store.name}에서 저장하신 검색 조건에 맞는 ‘${post.title}’ 글을 올렸습니다.`,
      en: `${store.name} published “${post.title}”, which matches your saved search.`,
    }),
    topic: 'saved_search_match' as const,
    ...mailKind<MailFields>({
      ...mailed,
      ko: (mail) => ({
        subject: `[두레] 저장하신 검색에 맞는 새 글이 올라왔습니다 · ${mail.searchName}`,
        preheader: `글 제목: ${mail.postTitle}`,
        heading: '저장하신 검색에 맞는 새 글이 올라왔습니다',
        blocks: [
          `저장하신 검색 ‘${mail.searchName}’에 맞는 새 글을 ${mail.storeName}에서 올렸습니다.`,
          quote(mail.postTitle),
          button('글 보러 가기', mail.url),
        ],
      }),
      en: (mail) => ({
        subject: `Dure: A new post matches your saved search · ${mail.searchName}`,
        preheader: `Post: ${mail.postTitle}`,
        heading: 'A new post matches your saved search',
        blocks: [
          `${mail.storeName} published a post that matches your saved search “${mail.searchName}”.`,
          quote(mail.postTitle),
          button('View the post', mail.url),
        ],
      }),
    }),
  },
  saved_search_digest: {
    description: 'More posts than a user is notified of in a day match saved searches of the user',
    title: { ko: '저장한 검색에 맞는 새 글', en: 'New posts for your saved searches' },
    sentence: (count: number) => ({
      ko: `저장하신 검색 조건에 맞는 새 글이 ${count}건 더 올라왔습니다.`,
      en: `There ${count === 1 ? 'is' : 'are'} ${posts(count)} for your saved searches.`,
    }),
    topic: 'saved_search_match' as const,
    ...mailKind<{ name: string; count: number; url: string }>({
      ...mailed,
      ko: ({ count, url }) => ({
        subject: `[두레] 저장하신 검색에 맞는 새 글이 ${count}건 더 올라왔습니다`,
        preheader: '하루에 알려 드리는 수보다 많아 한 번에 알려 드립니다',
        heading: `저장하신 검색에 맞는 새 글이 ${count}건 더 올라왔습니다`,
        blocks: ['하루에 하나씩 알려 드리는 수보다 많아 한 번에 알려 드립니다.', button('글 보러 가기', url)],
      }),
      en: ({ count, url }) => ({
        subject: `Dure: ${posts(count)} for your saved searches`,
        preheader: 'More than we tell you of one by one in a day',
        heading: `${posts(count)} for your saved searches`,
        blocks: ['These are more than we tell you of one by one in a day.', button('View posts', url)],
      }),
    }),
  },
};

/** Composes the emails about matches when they are sent: none where the search is gone, the post is not open, or the address forbids it. */
export function savedSearchMails({ frontendUrl }: Config, database: Database) {
  return {
    async saved_search_match({ user_id, saved_search_id, post_id }) {
      const ids = {
        userId: Number(user_id),
        savedSearchId: Number(saved_search_id),
        postId: Number(post_id),
      };
      const match = await findMatch(database, ids);
      const recipient = await findRecipient(database, ids.userId);
      if (match === undefined || recipient === null) return null;
      const { email, language, name } = recipient;
      const fields = { ...match, name, url: `${frontendUrl}/${matchPage(ids.postId)}` };
      return { to: email, mail: writeMail(savedSearchKinds.saved_search_match, language, fields) };
    },

    async saved_search_digest({ user_id, count }) {
      const recipient = await findRecipient(database, Number(user_id));
      if (recipient === null) return null;
      const { email, language, name } = recipient;
      const fields = { name, count: Number(count), url: `${frontendUrl}/${digestPage}` };
      return { to: email, mail: writeMail(savedSearchKinds.saved_search_digest, language, fields) };
    },
  } satisfies MailComposers<keyof typeof savedSearchKinds>;
}
