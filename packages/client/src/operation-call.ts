/** As `crypto.randomUUID()` returns it. */
export type Uuid = `${string}-${string}-${string}-${string}-${string}`;

/** How an operation is called: what types cannot say at run time. */
export interface OperationCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` where an input goes: an integer, a UUID with `{name:uuid}`, a text with `{name:text}`. */
  path: string;
  /** Names of the inputs that go to the query; all others are the body. */
  query?: readonly string[];
  body?: 'json' | 'form';
  /** Takes an access token, or needs one. */
  auth?: boolean;
  /** Takes an `Idempotency-Key`. */
  idempotent?: boolean;
  /** Sets, reads or clears the cookie with the refresh token, where it is asked to. */
  cookie?: boolean;
  /** Responses without the envelope. */
  plain?: boolean;
}
