import { found, invalidFields } from '../../http/errors.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import type { Outbox } from '../../infrastructure/jobs/outbox.ts';
import type { MailQueue } from '../../infrastructure/mail/queue.ts';
import type { createNotifications } from '../notifications/index.ts';
import { checkCategoryFilter, readNear } from '../stores/index.ts';
import * as savedSearches from './repository.ts';
import { type NewSavedSearch, savedSearchErrors, toSavedSearch } from './schemas.ts';

export const matchTask = 'match_saved_searches';
export const digestTask = 'send_saved_search_digests';
const batchSize = 500;
/** Milliseconds of a run of digests, between which other jobs have their turn. */
const runTime = 20_000;

const noFilter = {
  field: 'q',
  code: 'required',
  text: { ko: '검색 조건을 하나 이상 넣어 주세요.', en: 'Give at least one filter.' },
} as const;

export interface SavedSearchServiceOptions {
  database: Database;
  outbox: Outbox;
  mailQueue: Pick<MailQueue, 'addUnrequestedToAll'>;
  notifications: Pick<
    ReturnType<typeof createNotifications>,
    'countMatches' | 'takeWaitingMatches' | 'notify'
  >;
}

export type SavedSearchService = ReturnType<typeof createSavedSearchService>;
/** Saving searches, and notifying users of new posts that match them. */
export function createSavedSearchService(options: SavedSearchServiceOptions) {
  const { database, outbox, mailQueue, notifications } = options;

  async function create(userId: number, input: NewSavedSearch) {
    const { name, q = null, category_id: categoryId = null, region = null, near = null } = input;
    const { latitude = null, longitude = null } = readNear(input) ?? {};
    const filters = { q, categoryId, region, near };
    if (Object.values(filters).every((value) => value === null)) throw invalidFields([noFilter]);
    await checkCategoryFilter(database, categoryId ?? undefined);
    const place = { latitude, longitude, radiusM: input.radius_m ?? null };
    const search = await savedSearches.create(database, { userId, name, ...filters, ...place });
    return toSavedSearch(found(search, savedSearchErrors.tooManySavedSearches));
  }

  /** Has a worker match a post after the commit of the transaction that writes it. */
  async function queueMatching(tx: Tx, postId: number): Promise<void> {
    await outbox.add(tx, { identifier: matchTask, payload: { post_id: postId } });
  }

  /** Notifies the users of a new post once. Each batch is saved with its notifications, so that a run after a crash continues. */
  async function notifyMatches(postId: number): Promise<void> {
    let before = await savedSearches.notifiedUpTo(database, postId);
    const matches = await savedSearches.findMatches(database, postId, before);
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

  /** Adds the notifications, and the emails of users who want them. What is beyond those of a day waits for the digest. */
  async function notifyAll(tx: Tx, postId: number, matches: savedSearches.Match[]): Promise<void> {
    const kind = 'saved_search_match';
    const ids = matches.map(({ userId }) => userId);
    const notified = await notifications.countMatches(tx, ids);
    const recipients = matches
      .filter(({ userId }) => notified.has(userId))
      .map((match) => ({ ...match, kind, postId }) as const);
    const mails = recipients.map(({ userId, savedSearchId }) => ({
      userId,
      payload: { saved_search_id: savedSearchId, post_id: postId },
    }));
    await mailQueue.addUnrequestedToAll(tx, kind, mails);
    await notifications.notify(tx, recipients);
  }

  /** Notifies users of the matches that wait, once a day, for {@link runTime}. @returns whether there are no more */
  async function sendDigests(): Promise<boolean> {
    const kind = 'saved_search_digest';
    const end = performance.now() + runTime;
    while (performance.now() < end) {
      const sent = await database.transaction(async (tx) => {
        const recipients = await notifications.takeWaitingMatches(tx);
        const mails = recipients.map(({ userId, matches }) => ({ userId, payload: { count: matches } }));
        await mailQueue.addUnrequestedToAll(tx, kind, mails);
        const digests = recipients.map((recipient) => ({ ...recipient, kind }) as const);
        await notifications.notify(tx, digests);
        return recipients.length;
      });
      if (sent === 0) return true;
    }
    return false;
  }

  return { create, queueMatching, notifyMatches, sendDigests };
}
