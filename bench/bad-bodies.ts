/** The keywords of a JSON Schema that decide which bodies are bad. */
export interface BodySchema {
  type?: string;
  maxLength?: number;
  maxItems?: number;
  items?: BodySchema;
}

/** A body that is rejected, and what is bad about it. */
interface BadBody {
  shape: string;
  text: string;
}

const repeat = (unit: string, size: number) =>
  unit.repeat(Math.max(1, Math.floor(size / Buffer.byteLength(unit))));
const list = (item: string, size: number) => `[${repeat(`${item},`, size - 20)}${item}]`;

/** An object with as many properties as fit. */
function fields(size: number, value: string): string {
  const properties: string[] = [];
  for (let length = 2; ; ) {
    const property = `"k${properties.length}":${value}`;
    length += property.length + 1;
    if (length > size) return `{${properties.join()}}`;
    properties.push(property);
  }
}

/** JSON texts whose decoding, cleaning or checking is expensive, each without its quotes. */
const units: Record<string, string> = {
  'plain text': 'a',
  'spaces around': ' ',
  hangul: '가',
  'decomposed hangul': '\u1112\u1161\u11ab',
  'stacked marks': `e${'\u0316\u0301'.repeat(15)}`,
  'marks in a row': '\u0301',
  emoji: '😀',
  'escaped quotes': '\\"',
  'escaped surrogates': '\\ud83d\\ude00',
  'invisible characters': '\\u200b',
  'dots and at signs': 'a.@',
};

/**
 * Bodies that fill the limit and are rejected.
 *
 * @param limit in bytes
 */
export function badBodies(properties: Record<string, BodySchema>, limit: number): BadBody[] {
  const size = limit - 200;
  return [
    { shape: 'unknown fields', text: fields(size, '1') },
    {
      shape: '990 unknown fields',
      text: `${fields(12_000, '1').slice(0, -1)},"x":"${repeat('a', size - 12_000)}"}`,
    },
    { shape: 'unknown fields with objects', text: fields(size, '{}') },
    { shape: 'one field again and again', text: `{${repeat('"name":1,', size)}"name":1}` },
    { shape: 'a list of numbers', text: list('1', size) },
    { shape: 'a list of 9,999 numbers', text: list('1', Math.min(size, 20_000)) },
    { shape: 'a list of lists', text: list('[]', size) },
    { shape: 'a list of 9,999 objects', text: list('{}', Math.min(size, 30_000)) },
    { shape: 'deep lists', text: '['.repeat(size / 2) + ']'.repeat(size / 2) },
    { shape: 'JSON that does not end', text: `{"name":"${repeat('a', size - 100)}` },
    { shape: 'fields that do not end', text: fields(size, '1').slice(0, -1) },
    ...Object.entries(properties).flatMap(([name, schema]) => badFields(name, schema, size)),
    ...Object.entries(units).map(([shape, unit]) => ({
      shape: `all fields: ${shape}`,
      text: everyField(properties, unit, size),
    })),
  ];
}

function badFields(name: string, schema: BodySchema, size: number): BadBody[] {
  const values: Record<string, string> = Object.fromEntries(
    Object.entries(units).map(([shape, unit]) => [shape, `"${repeat(unit, size)}"`]),
  );
  const lists: Record<string, string> = {
    'bad items': list('"x"', Math.min(size, 39_000)),
    'as many bad items as allowed': `[${Array.from({ length: schema.maxItems ?? 0 }, () => '{}').join()}]`,
    ...Object.fromEntries(
      Object.entries(units).map(([shape, unit]) => [`items: ${shape}`, longItems(schema, unit, size)]),
    ),
  };
  return Object.entries(schema.type === 'array' ? lists : values).map(([shape, value]) => ({
    shape: `${name}: ${shape}`,
    text: `{"${name}":${value}}`,
  }));
}

function longItems({ maxItems = 1 }: BodySchema, unit: string, size: number): string {
  return `[${Array.from({ length: maxItems }, () => `"${repeat(unit, size / maxItems - 10)}"`).join()}]`;
}

/** Every field as long as a text may be that is looked into; see `cleanText`. */
function everyField(properties: Record<string, BodySchema>, unit: string, size: number): string {
  const names = Object.keys(properties);
  const share = size / names.length - 50;
  const body = names.map((name) => {
    const { maxLength = 100_000, maxItems, items } = properties[name] ?? {};
    const length = Math.min(
      share,
      (items?.maxLength ?? maxLength) * 4 * (Buffer.byteLength(unit) / unit.length),
    );
    if (maxItems === undefined) return `"${name}":"${repeat(unit, length)}"`;
    const each = Math.min(length, share / maxItems - 10);
    return `"${name}":[${Array.from({ length: maxItems }, () => `"${repeat(unit, each)}"`).join()}]`;
  });
  return `{${body.join()}}`;
}
