/* What the page of Swagger UI gets from the service. It is served as files, because the policy of the page allows no inline script. */

/**
 * Loads Swagger UI once the page is used, with a plugin (https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/)
 * that folds what makes an operation long and explains how to try a stream.
 */
export const script = `(() => {
  const { bundle } = document.currentScript.dataset;

  const plugin = ({ React: { createElement, useState } }) => {
    const Folded = ({ className, title, children }) => {
      const [isOpen, setOpen] = useState(false);
      return createElement(
        'details',
        { className, onToggle: (event) => setOpen(event.currentTarget.open) },
        createElement('summary', null, title),
        isOpen && children(),
      );
    };

    const foldFailures = (Responses) => (props) => {
      const isSuccess = (_response, status) => /^[123]/.test(status);
      const successes = props.responses?.filter(isSuccess);
      if (!successes?.size) return createElement(Responses, props);
      const failures = props.responses.filterNot(isSuccess);
      const title = 'Failures (' + failures.size + '): ' + failures.keySeq().join(', ');
      return createElement(
        'div',
        null,
        createElement(Responses, { ...props, responses: successes }),
        failures.size > 0 &&
          createElement(Folded, { className: 'folded failures', title }, () =>
            createElement(Responses, { ...props, responses: failures, tryItOutResponse: null }),
          ),
      );
    };

    const foldHeaders = (Headers) => (props) =>
      props.headers?.size
        ? createElement(Folded, { className: 'folded', title: 'Headers (' + props.headers.size + ')' }, () =>
            createElement(Headers, props),
          )
        : null;

    const explainStream = (Execute) => (props) => {
      const contents = props.operation.get('responses')?.toList();
      if (!contents?.some((response) => response.hasIn(['content', 'text/event-stream']))) {
        return createElement(Execute, props);
      }
      const url = location.origin + props.path;
      const block = (text) => createElement('pre', { tabIndex: 0 }, text);
      return createElement(
        'div',
        { className: 'stream-note' },
        createElement('p', null, 'This response does not end, so it cannot be shown here. In a terminal:'),
        block("curl -N -H 'Authorization: Bearer <access>' \\\\\\n  " + url),
        createElement('p', null, 'In a program, with @dure/client:'),
        block('const stop = dure.notifications.subscribe({\\n  onNotification: (notification) => console.log(notification),\\n});'),
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

    return {
      // The page has an introduction of its own, and its policy allows no other server.
      components: { InfoContainer: () => null, ServersContainer: () => null },
      wrapComponents: { responses: foldFailures, headers: foldHeaders, execute: explainStream },
      fn: { resolveSubtree: async (spec, path) => ({ spec: dereference(at(spec, path), spec), errors: [] }) },
    };
  };

  const loadBundle = () =>
    new Promise((onload, onerror) => {
      document.head.append(Object.assign(document.createElement('script'), { src: bundle, onload, onerror }));
    });

  let loading;
  /** Replaces what the service rendered. Resolves with Swagger UI when it shows the document. */
  const start = () => (loading ??= load());
  const load = async () => {
    const [response] = await Promise.all([fetch('/openapi.json'), loadBundle()]);
    const spec = await response.json();
    return new Promise((resolve) => {
      const ui = SwaggerUIBundle({
        dom_id: '#swagger-ui',
        spec,
        plugins: [plugin],
        deepLinking: true,
        docExpansion: 'none',
        // The schemas stand in the operations.
        defaultModelsExpandDepth: -1,
        displayRequestDuration: true,
        persistAuthorization: true,
        tryItOutEnabled: true,
        onComplete: () => resolve(ui),
      });
    });
  };

  const post = async (path, body, access) => {
    const headers = { 'content-type': 'application/json', 'accept-language': 'en' };
    if (access) headers.authorization = 'Bearer ' + access;
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    const { success, message, data } = await response.json();
    if (!success) throw new Error(message);
    return data;
  };

  const logInAsDemoShop = async () => {
    const random = () => crypto.getRandomValues(new Uint32Array(2)).join('');
    const [username, password] = ['demo-' + random(), random()];
    await post('/auth/signup/', { username, password, name: 'Demo', email: username + '@example.com' });
    const { access } = await post('/auth/login/', { username, password });
    await post('/api/v1/stores/', { name: 'Shop of ' + username, category_ids: [1] }, access);
    const ui = await start();
    ui.preauthorizeApiKey('bearer', access);
    ui.authActions.persistAuthorizationIfNeeded();
    return 'Logged in as ' + username + ' with the password ' + password;
  };

  for (const event of ['pointermove', 'pointerdown', 'keydown', 'scroll']) addEventListener(event, start, { once: true });
  if (location.hash) start();
  addEventListener('click', async ({ target }) => {
    const { id, nextElementSibling: output } = target.closest('button') ?? target;
    if (id === 'authorize') {
      const { authActions, authSelectors } = await start();
      authActions.showDefinitions(authSelectors.definitionsToAuthorize());
    } else if (id === 'demo-login') {
      output.value = 'Logging in...';
      output.value = await logInAsDemoShop().catch(({ message }) => message);
    }
  });

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const showColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', showColours);
  showColours();
})();
`;

/** Both what the service renders and Swagger UI have these styles, so that nothing moves when one replaces the other. */
export const styles = `body { margin: 0; background: #fafafa; font: 16px/1.5 sans-serif; color: #3b4151; }
html.dark-mode body { background: #1c2022; color: #e4e6e6; }
.intro, .swagger-ui .wrapper { max-width: 1460px; box-sizing: border-box; margin: 0 auto; padding: 0 20px; }
.intro h1 { margin: 16px 0 8px; }
.intro h1 small { font-size: 16px; }
.intro > div { max-width: 720px; white-space: pre-line; }
.intro p { margin: 8px 0; }
.intro a { color: #1f6f4a; }
.intro button { padding: 10px 16px; border: 0; border-radius: 4px; background: #1f6f4a; color: #fff; font: bold 14px sans-serif; cursor: pointer; }
.intro output { display: block; min-height: 24px; overflow-wrap: anywhere; }
.swagger-ui .scheme-container { margin: 0; padding: 8px 0; background: none; box-shadow: none; }
.swagger-ui .btn.authorize { display: flex; align-items: center; width: 150px; height: 40px; border-color: #1f6f4a; color: #1f6f4a; }
.swagger-ui .btn.authorize span { padding-top: 0; }
html.dark-mode .intro a, html.dark-mode .swagger-ui .btn.authorize { color: #8fdab2; border-color: #8fdab2; }
.swagger-ui .opblock-tag { position: relative; margin: 0; padding: 12px 40px 12px 10px; }
.swagger-ui .opblock-tag p { margin: 0; }
.swagger-ui .opblock-tag > a::after { content: ''; position: absolute; inset: 0; }
.swagger-ui .expand-operation { position: absolute; top: 12px; right: 0; }
.swagger-ui .folded { margin: 8px 0; }
.swagger-ui .folded.failures { margin: 0; padding: 0 20px 12px; }
.swagger-ui .folded > summary { padding: 10px 0; cursor: pointer; font: 600 14px sans-serif; color: #3b4151; }
html.dark-mode .swagger-ui .folded > summary, html.dark-mode .swagger-ui .stream-note { color: #e4e6e6; }
.swagger-ui .failures .opblock-section-header { display: none; }
.swagger-ui .stream-note { width: 100%; text-align: left; font: 14px sans-serif; color: #3b4151; }
.swagger-ui .stream-note pre { overflow-x: auto; padding: 10px; border-radius: 4px; background: #333; color: #fff; }
/* As tall as its content, where the browser can do that. */
.swagger-ui .body-param__text { min-height: 120px; field-sizing: content; }
/* A list to choose from, where there is a choice. */
.swagger-ui .response-controls > div:has(option:only-of-type), .swagger-ui .examples-select:has(option:only-of-type) { display: none; }
.swagger-ui .responses-inner, .swagger-ui .table-container { padding: 8px 20px; }
.swagger-ui .opblock-description-wrapper { padding: 8px 20px; }
.swagger-ui .opblock .opblock-section-header { min-height: 40px; padding: 4px 20px; }
.swagger-ui .execute-wrapper { padding: 8px 20px; }
.swagger-ui .highlight-code > .microlight { max-height: 260px; }
/* The document has no links. */
.swagger-ui .responses-table .response-col_links { display: none; }
.swagger-ui .opblock-description-wrapper { overflow-wrap: anywhere; }
@media (max-width: 640px) {
  .intro, .swagger-ui .wrapper { padding: 0 10px; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; padding: 10px 40px 10px 0; font-size: 20px; }
  .swagger-ui .opblock-tag small { flex-basis: 100%; padding: 4px 0; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 62px; padding: 6px 0; }
  .swagger-ui .responses-inner, .swagger-ui .opblock-section, .swagger-ui .table-container { padding: 10px; }
  .swagger-ui .folded.failures { padding: 0 10px 12px; }
  .swagger-ui .table-container, .swagger-ui .responses-inner, .swagger-ui .model-box, .swagger-ui .headers-wrapper { overflow-x: auto; }
}
`;
