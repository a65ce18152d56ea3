import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Language } from '../../infrastructure/database/generated/enums.ts';
import { sql } from '../../infrastructure/database/sql.ts';
import type { MailComposers } from '../../infrastructure/mail/worker.ts';
import { isOpenPost } from '../posts/index.ts';
import { isOpenStore } from '../stores/index.ts';

type Row = Record<'email' | 'name' | 'searchName' | 'storeName' | 'postTitle', string> & {
  language: Language;
};

/**
 * Composes the emails about matches when they are sent, in the language of the recipient: nothing once the search was deleted, the
 * post is not open any more, or the address forbids it.
 */
export function savedSearchMails({ frontendUrl }: Config, database: Database): MailComposers {
  return {
    async saved_search_match({ user_id, saved_search_id, post_id }) {
      const [row] = await database.query<Row>(sql`
        SELECT u.email, u.name, u.language, f.name AS "searchName", s.name AS "storeName", p.title AS "postTitle"
        FROM saved_searches f JOIN users u ON u.id = f.user_id, posts p JOIN stores s ON s.id = p.store_id
        WHERE f.id = ${saved_search_id}::int AND u.id = ${user_id}::int AND u.is_verified AND u.suspended_at IS NULL
          AND p.id = ${post_id}::bigint AND p.is_visible AND ${isOpenPost('p')} AND ${isOpenStore('s')}`);
      if (row === undefined) return null;
      const { email, language, ...fields } = row;
      const mail = { kind: 'saved_search_match', ...fields, url: `${frontendUrl}/posts/${post_id}` } as const;
      return { to: email, language, mail };
    },
  };
}
