import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/client.ts';
import { documentDomain } from '../http/document-domain.ts';
import type { UnsubscribeLinks } from '../mail/unsubscribe-links.ts';
import { createPreferencesRepository } from './repository.ts';
import { preferenceRoutes } from './routes/preferences.ts';
import { unsubscribeRoutes } from './routes/unsubscribe.ts';
import { preferenceSchemas } from './schemas.ts';

interface PreferencesOptions {
  database: Database;
  unsubscribeLinks: UnsubscribeLinks;
}

/** Builds the preferences domain: its routes under `/api/v1/notifications`. */
export function createPreferences({ database, unsubscribeLinks }: PreferencesOptions) {
  const preferences = createPreferencesRepository(database);

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(documentDomain, { tag: 'notifications', schemas: preferenceSchemas });
    await scope.register(preferenceRoutes, { preferences });
    await scope.register(unsubscribeRoutes, { preferences, unsubscribeLinks });
  }

  return { routes };
}
