/** As `crypto.randomUUID()` returns it. */
export type Uuid = `${string}-${string}-${string}-${string}-${string}`;

/** A file of the device in React Native, which has no `File`. */
export interface NativeFile {
  uri: string;
  name: string;
  type: string;
}

/** A file of a form. A `File` is a `Blob`. */
export type FormFile = Blob | NativeFile;

/** How an operation is called: what types cannot say at run time. */
export interface OperationCall {
  /** Its `operationId`. */
  id: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` where an input goes: an integer, a UUID with `{name:uuid}`, a text with `{name:text}`. */
  path: string;
  /** Names of the inputs that go to the query; all others are the body. */
  query?: readonly string[];
  body?: 'json' | 'form';
  /** Whether it takes an access token. */
  auth?: 'required' | 'optional';
  /** Takes an `Idempotency-Key`. */
  idempotent?: boolean;
  /** Sets, reads or clears the cookie with the refresh token, where it is asked to. */
  cookie?: boolean;
  /** Responses without the envelope. */
  plain?: boolean;
}
