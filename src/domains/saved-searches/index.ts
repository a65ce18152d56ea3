import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { FastifyInstance } from 'fastify';
import type { JobHelpers } from 'graphile-worker';
import type { Config } from '../../infrastructure/config/config.ts';
import { savedSearchMails } from './kinds.ts';
import { savedSearchRoutes } from './routes.ts';
import {
  createSavedSearchService,
  digestTask,
  matchTask,
  type SavedSearchServiceOptions,
} from './service.ts';

export { digestPage, matchPage, savedSearchKinds, savedSearchTopics } from './kinds.ts';
export { expiredPostAlerts } from './repository.ts';

const Job = Type.Object({ post_id: Type.Integer() });

/** Builds the saved searches domain: its routes under `/api/v1/saved-searches`, the job that matches new posts, and its emails. */
export function createSavedSearches(options: SavedSearchServiceOptions & { config: Config }) {
  const { config, database } = options;
  const service = createSavedSearchService(options);

  return {
    routes: async (scope: FastifyInstance) => scope.register(savedSearchRoutes, { database, service }),
    mails: savedSearchMails(config, database),
    queueMatching: service.queueMatching,
    tasks: {
      async [matchTask](payload: unknown) {
        if (!Value.Check(Job, payload)) throw new Error('the job names no post');
        await service.notifyMatches(payload.post_id);
      },
      async [digestTask](_payload: unknown, { addJob }: JobHelpers) {
        if (!(await service.sendDigests())) await addJob(digestTask, {}, { jobKey: digestTask });
      },
    },
    /** At 19:00 in Korea; later the same day where no worker ran then. */
    crontab: `0 10 * * * ${digestTask} ?fill=5h&jobKey=${digestTask}`,
  };
}
