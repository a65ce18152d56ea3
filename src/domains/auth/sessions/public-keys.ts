import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { List, NamedObject, Ref, StringEnum, Url } from '../../../http/schemas.ts';
import type { Config } from '../../../infrastructure/config/config.ts';

const PublicKey = Type.Unsafe<object>({
  $id: 'PublicKey',
  type: 'object',
  additionalProperties: true,
  description: 'A public key (RFC 7517), with its `alg`',
});
const PublicKeys = NamedObject('PublicKeys', 'A JSON Web Key Set', {
  keys: List(Ref(PublicKey), 100, 'The one that signs is the first'),
});
const Issuer = NamedObject('Issuer', 'What a library needs to verify access tokens', {
  issuer: Url('`iss` of the access tokens'),
  jwks_uri: Url('Where the public keys are'),
  id_token_signing_alg_values_supported: List(
    StringEnum(['ES256', 'EdDSA']),
    2,
    'The algorithms of the public keys, under the name that libraries read',
  ),
});

/** Seconds for which others may keep the public keys. A new key is published for that long before it signs. */
export const publicKeysMaxAge = 300;

/** For every origin and every cache. Errors do not have them. */
const headers = {
  'access-control-allow-origin': '*',
  'cache-control': `public, max-age=${publicKeysMaxAge}`,
};

/** The public halves of the private keys, with which other services verify access tokens. */
export async function publicKeyRoutes(app: FastifyInstance, { privateKeys, publicUrl }: Config) {
  const keys = privateKeys.map(({ jwk }) => jwk);
  const issuer = {
    issuer: publicUrl,
    jwks_uri: `${publicUrl}/.well-known/jwks.json`,
    id_token_signing_alg_values_supported: [...new Set(privateKeys.map(({ algorithm }) => algorithm))],
  };

  app.get('/jwks.json', {
    config: { access: 'anyone' },
    schema: {
      operationId: 'getPublicKeys',
      summary: 'The keys of access tokens',
      description:
        'Other services verify access tokens with them. There are none without `JWT_PRIVATE_KEY`. They do not tell whether a session has ended.',
      tags: ['system'],
      response: { 200: Ref(PublicKeys, { description: 'The public keys' }) },
    },
    handler: async (_request, reply) => reply.headers(headers).send({ keys }),
  });

  app.get('/openid-configuration', {
    config: { access: 'anyone' },
    schema: {
      operationId: 'getIssuer',
      summary: 'Where the keys of access tokens are',
      description:
        'For libraries that find the keys by the issuer. The service is no provider of OpenID Connect.',
      tags: ['system'],
      response: { 200: Ref(Issuer, { description: 'The issuer' }) },
    },
    handler: async (_request, reply) => reply.headers(headers).send(issuer),
  });
}
