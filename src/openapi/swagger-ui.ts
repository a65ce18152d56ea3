import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { icon, serveFixed, staticFilesPlugin } from '../http/pages.ts';

/* The scripts are text, because they run in the browser: plugins of Swagger UI
 * (https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/). */

/** Folds what makes an operation long, and explains how to try a stream. */
const readability = `// The page of @fastify/swagger-ui is as wide as a desktop.
document.head.append(Object.assign(document.createElement('meta'), { name: 'viewport', content: 'width=device-width' }));

const durePlugins = [({ React: { createElement, useState } }) => {
  const foldFailures = (Responses) => (props) => {
    const [isOpen, setOpen] = useState(false);
    const isSuccess = (_response, status) => /^[123]/.test(status);
    const failures = props.responses.filterNot(isSuccess);
    return createElement(
      'div',
      null,
      createElement(Responses, { ...props, responses: props.responses.filter(isSuccess) }),
      createElement(
        'details',
        { className: 'failures', onToggle: (event) => setOpen(event.currentTarget.open) },
        createElement('summary', null, 'Failures (' + failures.size + '): ' + failures.keySeq().join(', ')),
        isOpen && createElement(Responses, { ...props, responses: failures, tryItOutResponse: null }),
      ),
    );
  };

  const explainStream = (Execute) => (props) => {
    const responses = props.operation.get('responses')?.toList();
    const isStream = responses?.some((response) => response.hasIn(['content', 'text/event-stream']));
    if (!isStream) return createElement(Execute, props);
    const curl = "curl -N -H 'Authorization: Bearer <access>' " + location.origin + props.path;
    return createElement(
      'div',
      { className: 'stream-note' },
      'This response does not end, so it cannot be shown here. In a terminal:',
      createElement('pre', { tabIndex: 0 }, curl),
      'In a program, with @dure/client:',
      createElement('pre', { tabIndex: 0 }, 'dure.notifications.subscribe({ onNotification: console.log })'),
    );
  };

  // Swagger UI resolves the whole document for each operation, which takes seconds. Here all references are local, and no schema
  // contains itself.
  const at = (spec, path) => path.reduce((node, key) => node?.[key], spec);
  const dereference = (node, spec) => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map((one) => dereference(one, spec));
    if (typeof node.$ref === 'string') return dereference(at(spec, node.$ref.slice(2).split('/')), spec);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, dereference(value, spec)]));
  };

  // The filter of Swagger UI knows tags only.
  const findOperations = (tagged, phrase) => {
    const matches = (...texts) => texts.join(' ').toLowerCase().includes(phrase.trim().toLowerCase());
    const found = ({ path, operation: { operationId, summary } }) => matches(operationId, summary, path);
    return tagged
      .map((one, tag) =>
        matches(tag) ? one : one.update('operations', (all) => all.filter((item) => found(item.toJS()))),
      )
      .filter((one) => one.get('operations').size > 0);
  };

  const openFound = (OperationTag) => (props) => {
    const { layoutSelectors } = props;
    const isFiltered = /^(?!true$|false$)./.test(layoutSelectors.currentFilter() ?? '');
    const isShown = (key, ...rest) => (isFiltered && key.length === 2) || layoutSelectors.isShown(key, ...rest);
    return createElement(OperationTag, { ...props, layoutSelectors: { ...layoutSelectors, isShown } });
  };

  return {
    // The policy of the page allows no other server.
    components: { ServersContainer: () => null },
    wrapComponents: {
      responses: foldFailures,
      execute: explainStream,
      OperationTag: openFound,
    },
    fn: { opsFilter: findOperations, resolveSubtree: async (spec, path) => ({ spec: dereference(at(spec, path), spec), errors: [] }) },
  };
}];
`;

/** A button that signs up a shop and logs in as it. */
const demoLogin = `durePlugins.push(({ React: { createElement, useState }, getSystem }) => {
  const post = async (path, body, access) => {
    const headers = { 'content-type': 'application/json', 'accept-language': 'en' };
    if (access) headers.authorization = 'Bearer ' + access;
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    const { success, message, data } = await response.json();
    if (!success) throw new Error(message);
    return data;
  };

  const logIn = async () => {
    const random = () => crypto.getRandomValues(new Uint32Array(2)).join('');
    const [username, password] = ['demo-' + random(), random()];
    await post('/auth/signup/', { username, password, name: 'Demo', email: username + '@example.com' });
    const { access } = await post('/auth/login/', { username, password });
    await post('/api/v1/stores/', { name: 'Shop of ' + username, category_ids: [1] }, access);
    getSystem().preauthorizeApiKey('bearer', access);
    getSystem().authActions.persistAuthorizationIfNeeded();
    return 'Logged in as ' + username + ' with the password ' + password;
  };

  const addButton = (Authorize) => (props) => {
    const [text, setText] = useState('');
    const onClick = () => {
      setText('Logging in...');
      logIn().then(setText, ({ message }) => setText(message));
    };
    return createElement(
      'div',
      { className: 'demo-login' },
      createElement(Authorize, props),
      createElement('button', { className: 'btn', onClick }, 'Log in as a new demo shop'),
      createElement('output', null, text),
    );
  };
  return { wrapComponents: { AuthorizeBtnContainer: addButton } };
});
`;

/** So that it can be read on a phone. */
const styles = `.swagger-ui .topbar .download-url-wrapper { display: none; }
.swagger-ui .info { margin: 16px 0; }
.swagger-ui .scheme-container { padding: 8px 0; }
.swagger-ui .failures { margin: 8px 0; }
.swagger-ui .failures > summary { padding: 10px 0; cursor: pointer; font: 600 14px sans-serif; }
.swagger-ui .failures .opblock-section-header { display: none; }
.swagger-ui .demo-login { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.swagger-ui .stream-note { width: 100%; text-align: left; font: 14px sans-serif; }
.swagger-ui .stream-note pre { overflow-x: auto; padding: 10px; border-radius: 4px; background: #333; color: #fff; }
html.dark-mode .swagger-ui :is(.failures > summary, .stream-note, .demo-login) { color: #e4e6e6; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 10px; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; font-size: 20px; }
  .swagger-ui .opblock-tag small { flex-basis: 100%; padding: 4px 0; }
  .swagger-ui :is(.opblock .opblock-summary, .opblock-section-header) { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 62px; padding: 6px 0; }
  .swagger-ui :is(.table-container, .responses-inner, .model-box, .headers-wrapper) { padding: 10px; overflow-x: auto; }
  .swagger-ui .opblock-description-wrapper { overflow-wrap: anywhere; }
}
`;

/** What `readability` defines in the browser. */
declare const durePlugins: object;

/** Serves Swagger UI at `/docs/`, where `canLogIn` is set with a button that signs up and logs in. */
export async function swaggerUiRoutes(app: FastifyInstance, options: { canLogIn: boolean }): Promise<void> {
  await app.register(staticFilesPlugin);
  // It has the document at two more paths, and generates it for each request.
  app.addHook('onRequest', async (request, reply) => {
    const [, extension] = /^\/docs\/(json|yaml)$/.exec(request.routeOptions.url ?? '') ?? [];
    if (extension) return reply.redirect(`/openapi.${extension}`);
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Swagger UI styles elements from its scripts.
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    theme: {
      title: 'Dure API',
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }],
      css: [{ filename: 'dure.css', content: styles }],
      js: [{ filename: 'dure.js', content: options.canLogIn ? readability + demoLogin : readability }],
    },
    logo: { type: 'image/svg+xml', content: icon, href: '/docs/' },
    uiConfig: {
      urls: [{ url: '/openapi.json', name: 'Dure' }],
      plugins: [() => durePlugins],
      filter: true,
      docExpansion: 'none',
      // The schemas stand in the operations.
      defaultModelsExpandDepth: -1,
      displayRequestDuration: true,
      persistAuthorization: true,
      tryItOutEnabled: true,
    },
  });
  // Compressed, which the files of @fastify/swagger-ui are not.
  const folder = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json'));
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js', 'swagger-ui.css']) {
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/css';
    serveFixed(app, `/docs/static/${name}`, { type, read: () => readFileSync(join(folder, 'static', name)) });
  }
}
