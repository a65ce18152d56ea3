import type { Config } from '../../infrastructure/config/config.ts';
import { writeMail } from '../../infrastructure/mail/content.ts';
import type { MailComposers } from '../../infrastructure/mail/sending.ts';
import { digestPage, matchPage, savedSearchKinds } from './kinds.ts';
import type { SavedSearches } from './repository.ts';

/**
 * Composes the emails about matches when they are sent, in the language of the recipient: nothing once the search was deleted, the
 * post is not open any more, or the address forbids it.
 */
export function savedSearchMails(
  { frontendUrl }: Config,
  savedSearches: SavedSearches,
): MailComposers<keyof typeof savedSearchKinds> {
  return {
    async saved_search_match({ user_id, saved_search_id, post_id }) {
      const postId = Number(post_id);
      const ids = { userId: Number(user_id), savedSearchId: Number(saved_search_id), postId };
      const match = await savedSearches.findMatch(ids);
      if (match === undefined) return null;
      const { email, language, ...fields } = match;
      const url = `${frontendUrl}/${matchPage(postId)}`;
      return {
        to: email,
        mail: writeMail(savedSearchKinds.saved_search_match, language, { ...fields, url }),
      };
    },

    async saved_search_digest({ user_id, count }) {
      const recipient = await savedSearches.findRecipient(Number(user_id));
      if (recipient === null) return null;
      const { email, language, name } = recipient;
      const fields = { name, count: Number(count), url: `${frontendUrl}/${digestPage}` };
      return { to: email, mail: writeMail(savedSearchKinds.saved_search_digest, language, fields) };
    },
  };
}
