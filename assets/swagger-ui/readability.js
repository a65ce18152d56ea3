/* Plugins of Swagger UI (https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/). */

// The page of @fastify/swagger-ui is as wide as a desktop.
document.head.append(
  Object.assign(document.createElement('meta'), { name: 'viewport', content: 'width=device-width' }),
);

/** Folds what makes an operation long, explains how to try a stream, and finds operations. */
const readability = ({ React: { createElement, useState } }) => {
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
        createElement('summary', null, `Failures (${failures.size}): ${failures.keySeq().join(', ')}`),
        isOpen && createElement(Responses, { ...props, responses: failures, tryItOutResponse: null }),
      ),
    );
  };

  const explainStream = (Execute) => (props) => {
    const responses = props.operation.get('responses')?.toList();
    const isStream = responses?.some((response) => response.hasIn(['content', 'text/event-stream']));
    if (!isStream) return createElement(Execute, props);
    const curl = `curl -N -H 'Authorization: Bearer <access>' ${location.origin}${props.path}`;
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
    const isShown = (key, ...rest) =>
      (isFiltered && key.length === 2) || layoutSelectors.isShown(key, ...rest);
    return createElement(OperationTag, { ...props, layoutSelectors: { ...layoutSelectors, isShown } });
  };

  return {
    // The policy of the page allows no other server.
    components: { ServersContainer: () => null },
    wrapComponents: { responses: foldFailures, execute: explainStream, OperationTag: openFound },
    fn: {
      opsFilter: findOperations,
      resolveSubtree: async (spec, path) => ({ spec: dereference(at(spec, path), spec), errors: [] }),
    },
  };
};

window.durePlugins = [readability];
