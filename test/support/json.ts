/** A parsed JSON or YAML document whose fields the tests check. */
// biome-ignore lint/suspicious/noExplicitAny: with `unknown`, every read of a field needs a cast
export type Json = any;
