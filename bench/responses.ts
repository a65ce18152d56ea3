import type { Target } from './targets.ts';

/**
 * Checks that the targets respond alike, as otherwise their times say nothing: the same text to a `GET`; to a `POST`, whose responses
 * have new ids and times, the same fields.
 *
 * @returns what differs
 */
export async function compareResponses(targets: Target[]): Promise<string[]> {
  const responses = await Promise.all(
    targets.flatMap(({ label, sample }) =>
      sample ? sample().then(async (given) => ({ label, text: await answerTo(given) })) : [],
    ),
  );
  const [first] = responses;
  return responses.flatMap(({ label, text }) =>
    text === first?.text ? [] : [`the responses differ: ${first?.label} ${first?.text}, ${label} ${text}`],
  );
}

type Sample = Awaited<ReturnType<NonNullable<Target['sample']>>>;

async function answerTo({ url, sender }: Sample): Promise<string> {
  const { method, path, headers, next } = sender;
  const response = await fetch(url + path, { method, headers, ...next?.() });
  const text = await response.text();
  return `${response.status} ${method === 'GET' ? text : JSON.stringify(shapeOf(JSON.parse(text)))}`;
}

/** The names and types of what is in a response. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}
