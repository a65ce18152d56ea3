/*
 * What Swagger UI gets from the service: a plugin (https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/)
 * and styles. Both are served as files, because the policy of the page allows no inline script.
 */

/**
 * Folds what makes an operation long, and explains how to try a stream. The lists of failures are rendered once they are opened.
 * The global name is in the list of plugins in `routes.ts`.
 */
export const script = `window.dureSwaggerUi = ({ React: { createElement, useState } }) => {
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
      createElement('p', null, 'This answer does not end, so it cannot be shown here. In a terminal:'),
      block("curl -N -H 'Authorization: Bearer <access>' \\\\\\n  " + url),
      createElement('p', null, 'In a program, with @dure/client:'),
      block('const stop = client.notifications.subscribe({\\n  onNotification: (notification) => console.log(notification),\\n});'),
    );
  };

  return { wrapComponents: { responses: foldFailures, headers: foldHeaders, execute: explainStream } };
};
`;

/** Colours are those of Swagger UI in both schemes; the rest is for narrow screens and for lists that are folded. */
export const styles = `.swagger-ui .topbar { padding: 6px 0; }
.swagger-ui .topbar .download-url-wrapper { display: none; }
.swagger-ui .topbar .topbar-wrapper { flex-flow: row; justify-content: space-between; }
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
.swagger-ui .opblock-description-wrapper, .swagger-ui .info .renderedMarkdown { overflow-wrap: anywhere; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 10px; }
  .swagger-ui .info { margin: 20px 0; }
  .swagger-ui .scheme-container { padding: 12px 0; }
  .swagger-ui .scheme-container .schemes .servers > label, .swagger-ui .scheme-container .schemes > label { margin-right: 0; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; padding: 10px 0; font-size: 20px; }
  .swagger-ui .opblock-tag small { flex-basis: 100%; padding: 4px 0; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 62px; padding: 6px 0; }
  .swagger-ui .responses-inner, .swagger-ui .opblock-section, .swagger-ui .table-container { padding: 10px; }
  .swagger-ui .folded.failures { padding: 0 10px 12px; }
  .swagger-ui .table-container, .swagger-ui .responses-inner, .swagger-ui .model-box, .swagger-ui .headers-wrapper { overflow-x: auto; }
}
`;
