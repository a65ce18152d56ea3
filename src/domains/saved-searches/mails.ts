import type { Config } from '../../infrastructure/config/config.ts';
import type { MailComposers } from '../../infrastructure/jobs/worker.ts';
import type { SavedSearches } from './repository.ts';

/**
 * Composes the emails about matches when they are sent, in the language of the recipient: nothing once the search was deleted, the
 * post is not open any more, or the address forbids it.
 */
export function savedSearchMails({ frontendUrl }: Config, savedSearches: SavedSearches): MailComposers {
  return {
    async saved_search_match({ user_id, saved_search_id, post_id }) {
      const ids = {
        userId: Number(user_id),
        savedSearchId: Number(saved_search_id),
        postId: Number(post_id),
      };
      const match = await savedSearches.findMatch(ids);
      if (match === undefined) return null;
      const { email, language, ...fields } = match;
      const mail = { kind: 'saved_search_match', ...fields, url: `${frontendUrl}/posts/${post_id}` } as const;
      return { to: email, language, mail };
    },
  };
}
