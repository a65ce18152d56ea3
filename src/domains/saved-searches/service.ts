import { ApiError, invalidFields } from '../../http/errors.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import type { Outbox } from '../../infrastructure/jobs/outbox.ts';
import type { MailQueue } from '../../infrastructure/mail/queue.ts';
import { readNear } from '../stores/index.ts';
import type { Match, SavedSearches } from './repository.ts';
import { type NewSavedSearch, type SavedSearch, savedSearchErrors, toSavedSearch } from './schemas.ts';

export const matchTask = 'match_saved_searches';

/** Users who are notified in one transaction. */
const batchSize = 500;

const noFilter = {
  field: 'q',
  code: 'required',
  text: { ko: '검색 조건을 하나 이상 넣어 주세요.', en: 'Give at least one filter.' },
} as const;

export interface SavedSearchServiceOptions {
  database: Database;
  outbox: Outbox;
  mailQueue: Pick<MailQueue, 'addUnrequestedToAll'>;
  savedSearches: SavedSearches;
  /** Adds notifications; the last statement of a transaction. */
  notify(tx: Tx, recipients: (Match & { kind: 'saved_search_match'; postId: number })[]): Promise<void>;
  /** @throws {ApiError} `validation_error` for a category that does not exist */
  checkCategoryFilter(id: number | undefined): Promise<void>;
}

export type SavedSearchService = ReturnType<typeof createSavedSearchService>;

/** Saving searches, and notifying users of new posts that match them. */
export function createSavedSearchService(options: SavedSearchServiceOptions) {
  const { database, outbox, mailQueue, savedSearches, notify, checkCategoryFilter } = options;

  /** @throws {ApiError} `validation_error`, `too_many_saved_searches` */
  async function create(userId: number, input: NewSavedSearch): Promise<SavedSearch> {
    const { name, q = null, category_id: categoryId = null, region = null, near = null } = input;
    const { latitude = null, longitude = null } = readNear(input) ?? {};
    const filters = { q, categoryId, region, near };
    if (Object.values(filters).every((value) => value === null)) throw invalidFields([noFilter]);
    await checkCategoryFilter(categoryId ?? undefined);
    const place = { latitude, longitude, radiusM: input.radius_m ?? null };
    const search = await savedSearches.create({ userId, name, ...filters, ...place });
    if (search === undefined) throw new ApiError(savedSearchErrors.tooManySavedSearches);
    return toSavedSearch(search);
  }

  /** Has a worker match a post after the commit of the transaction that writes it. */
  async function queueMatching(tx: Tx, postId: number): Promise<void> {
    await outbox.add(tx, { identifier: matchTask, payload: { post_id: postId }, priority: 5 });
  }

  /**
   * Notifies the users of a new post once. Each batch is saved with its notifications, so that a run after a crash continues.
   *
   * @throws Error when another worker runs the same job, which then runs again
   */
  async function notifyMatches(postId: number): Promise<void> {
    let before = await savedSearches.notifiedUpTo(postId);
    const matches = await savedSearches.findMatches(postId, before);
    for (let start = 0; start < matches.length; start += batchSize) {
      const batch = matches.slice(start, start + batchSize);
      const last = batch.at(-1)?.userId ?? before;
      await database.transaction(async (tx) => {
        const isFirst = await savedSearches.advance(tx, { postId, before, userId: last });
        if (!isFirst) throw new Error('another worker notifies the users of the post');
        await notifyAll(tx, postId, batch);
      });
      before = last;
    }
  }

  /** Adds the notifications, and the emails of users who want them. */
  async function notifyAll(tx: Tx, postId: number, matches: Match[]): Promise<void> {
    const kind = 'saved_search_match';
    const mails = matches.map(({ userId, savedSearchId }) => ({
      userId,
      payload: { saved_search_id: savedSearchId, post_id: postId },
    }));
    await mailQueue.addUnrequestedToAll(tx, kind, mails);
    const recipients = matches.map((match) => ({ ...match, kind, postId }) as const);
    await notify(tx, recipients);
  }

  return { create, queueMatching, notifyMatches };
}
