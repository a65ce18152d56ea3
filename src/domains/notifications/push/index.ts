import type { FastifyInstance } from 'fastify';
import { requireUser } from '../../../http/authentication.ts';
import { ApiError, httpErrors } from '../../../http/errors.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import { createPushDelivery, type PushDeliveryOptions } from './delivery.ts';
import { createPushSubscriptions } from './repository.ts';
import { pushRoutes } from './routes.ts';

/** Builds push messages: the routes under `/api/v1/notifications/push`, and the jobs that send them. */
export function createPush({
  config,
  ...options
}: Omit<PushDeliveryOptions, 'subscriptions'> & { config: Config }) {
  const subscriptions = createPushSubscriptions(options.database);

  async function routes(scope: FastifyInstance): Promise<void> {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, errors: [...(route.config?.errors ?? []), httpErrors.notFound] };
    });
    // Without a key of the service there is nothing at these paths.
    scope.addHook('onRequest', async () => {
      if (config.vapid === undefined) throw new ApiError(httpErrors.notFound);
    });
    await scope.register(requireUser);
    await scope.register(pushRoutes, { subscriptions, config });
  }

  return { routes, lane: createPushDelivery({ ...options, config, subscriptions }) };
}
