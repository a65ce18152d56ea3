import type { FastifyInstance } from 'fastify';
import { requireUser, routesBehind } from '../../../http/authentication.ts';
import { ApiError, httpErrors } from '../../../http/errors.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import { sendPushTask } from '../../../infrastructure/jobs/outbox.ts';
import type { Lane } from '../../../infrastructure/jobs/worker.ts';
import { createPushDelivery, type PushDeliveryOptions } from './delivery.ts';
import { createPushSubscriptions } from './repository.ts';
import { pushRoutes } from './routes.ts';

/** Builds push messages: the routes under `/api/v1/notifications/push`, and the jobs that send them. */
export function createPush(
  options: Omit<PushDeliveryOptions, 'subscriptions' | 'vapid'> & { config: Config },
) {
  const { config, database } = options;
  const { vapid } = config;
  const subscriptions = createPushSubscriptions(database);

  async function routes(scope: FastifyInstance): Promise<void> {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, errors: [...(route.config?.errors ?? []), httpErrors.notFound] };
    });
    // Without a key of the service there is nothing at these paths.
    scope.addHook('onRequest', async () => {
      if (vapid === undefined) throw new ApiError(httpErrors.notFound);
    });
    await scope.register(routesBehind(requireUser, pushRoutes, { subscriptions, config }));
  }

  // What was queued while there was a key is dropped without one.
  const nothing: Lane = { tasks: { [sendPushTask]: async () => undefined }, concurrency: 1 };
  return { routes, lane: vapid ? createPushDelivery({ ...options, vapid, subscriptions }) : nothing };
}
