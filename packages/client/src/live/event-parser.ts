/** One event of a stream, with its data as text. */
export interface StreamEvent {
  event: string;
  id: string | undefined;
  data: string;
}

/**
 * Parses server-sent events (HTML standard, section 9.2.6). Own code, because the service writes only a part of what the
 * format allows, and `fetch` needs no more than this.
 *
 * @returns takes text as it arrives
 */
export function createEventParser(onEvent: (event: StreamEvent) => void): (text: string) => void {
  let rest = '';
  let fields: Partial<Record<string, string>> = {};

  function readLine(line: string): void {
    if (line === '') {
      const { data, event = 'message', id } = fields;
      fields = {};
      if (data !== undefined) onEvent({ event, id, data });
      return;
    }
    const colon = line.indexOf(':');
    // A comment, which keeps the connection alive.
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    const before = fields[name];
    fields[name] = name === 'data' && before !== undefined ? `${before}\n${value}` : value;
  }

  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) readLine(line);
  };
}
