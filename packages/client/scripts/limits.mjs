/**
 * Writes the limits of values into their descriptions, because the types of TypeScript do not show them.
 *
 * @param node any part of the document, which is changed
 */
export function describeLimits(node) {
  if (typeof node !== 'object' || node === null) return;
  for (const part of Object.values(node)) describeLimits(part);
  for (const property of Object.values(node.properties ?? {})) extend(property, limitsOf(property));
  if (node.in === undefined || node.schema === undefined) return;
  const { default: preset } = node.schema;
  // The types show the default of a property, but not that of a parameter.
  extend(node, limitsOf(node.schema), preset !== undefined && `Default: ${JSON.stringify(preset)}`);
}

function extend(described, ...texts) {
  const sentences = [described.description?.replace(/\.$/, ''), ...texts].filter(Boolean);
  if (sentences.length > 0) described.description = sentences.join('. ');
}

/** In English, such as "4 to 30 characters. Pattern: `^[a-z]+$`"; empty without limits. */
function limitsOf(schema) {
  const parts = [
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' entries'),
    // Every id has one of these maxima.
    ![2 ** 31 - 1, Number.MAX_SAFE_INTEGER].includes(schema.maximum) &&
      range(schema.minimum, schema.maximum, ''),
    schema.pattern && `Pattern: \`${schema.pattern}\``,
  ];
  return parts.filter(Boolean).join('. ');
}

function range(min, max, unit) {
  if (min !== undefined && max !== undefined) return `${min} to ${max}${unit}`;
  if (max !== undefined) return `At most ${max}${unit}`;
  if (min === 1 && unit !== '') return 'Not empty';
  return min === undefined ? '' : `At least ${min}${unit}`;
}
