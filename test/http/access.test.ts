import Fastify from 'fastify';
import t from 'tap';
import { credentialsPlugin } from '../../src/http/authentication.ts';

t.test('an operation that does not say who may call it stops the start', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  const authenticator = {
    verifyAccessToken: () => ({ problem: 'malformed' }) as const,
    findUser: async () => undefined,
  };
  await app.register(credentialsPlugin, { authenticator });
  const schema = { operationId: 'listSecrets' };
  const handler = async () => ({});
  t.throws(() => app.get('/secrets/', { schema, handler }), /\/secrets\/ does not say who may call it/);
  t.doesNotThrow(() => app.get('/public/', { config: { access: 'anyone' }, schema, handler }));
});
