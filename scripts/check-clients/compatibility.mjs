/**
 * Leaves out of a document what may be added at any time, so that a comparison with the last release shows breaking changes
 * only: new values of enums, and new codes of failures.
 *
 * @param released the document of the last release
 * @param current the document of now; it is changed
 */
export function leaveOutAdditions(released, current) {
  for (const [name, { enum: values }] of Object.entries(released.components.schemas)) {
    const schema = current.components.schemas[name];
    if (values && schema?.enum) schema.enum = schema.enum.filter((value) => values.includes(value));
  }
  for (const [path, operations] of Object.entries(released.paths)) {
    for (const [method, { responses }] of Object.entries(operations)) {
      const answers = current.paths[path]?.[method]?.responses ?? {};
      for (const [status, answer] of Object.entries(responses)) {
        if (Number(status) < 400 || !(status in answers)) continue;
        answers[status] = withoutNewCodes(released, answer, current, answers[status]);
      }
    }
  }
}

function withoutNewCodes(released, releasedAnswer, current, answer) {
  const { envelope, forms } = failureOf(current, answer);
  if (forms.length === 0) return answer;
  const codes = failureOf(released, releasedAnswer).forms.map((form) => codeOf(released, form));
  const kept = forms.filter((form) => codes.includes(codeOf(current, form)));
  const data = kept.length === 1 ? kept[0] : { oneOf: kept };
  const schema = { ...envelope, properties: { ...envelope.properties, data } };
  return { ...follow(current, answer), content: { 'application/json': { schema } } };
}

/** The envelope of a failure, and the schemas that its `data` may have. */
function failureOf(document, answer) {
  const envelope = follow(document, follow(document, answer).content['application/json'].schema);
  const { data } = envelope.properties ?? {};
  // Health checks answer without an envelope.
  if (!data) return { envelope, forms: [] };
  return { envelope, forms: follow(document, data).oneOf ?? [data] };
}

function codeOf(document, form) {
  return follow(document, form).properties.code.const;
}

function follow(document, part) {
  if (!part.$ref) return part;
  const [, , kind, name] = part.$ref.split('/');
  return document.components[kind][name];
}
