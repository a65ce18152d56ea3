/** Work that runs once at a time for all callers. Its result is used for a second more, so that a flood of them costs no queries. */
export function onceASecond<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let latest: Promise<Value> | undefined;
  const forget = () => {
    latest = undefined;
  };
  return () => {
    latest ??= work().finally(() => setTimeout(forget, 1_000).unref());
    return latest;
  };
}
