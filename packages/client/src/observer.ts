import type { NetworkError } from './errors.ts';
import { requestIdOf } from './responses.ts';
import type { PreparedRequest, RawResponse } from './transport.ts';
import type { OperationId } from './types.ts';

/** A request before it is sent. */
export interface ObservedRequest {
  operation: OperationId;
  method: string;
  url: string;
  /** May be changed, for example to add the headers of a trace. */
  headers: Headers;
}

/** What came of it. */
export interface ObservedResponse extends ObservedRequest {
  /** Undefined where no response came: then `error` has the reason. */
  status: number | undefined;
  error: NetworkError | undefined;
  /** Names the call in the logs of the server. */
  requestId: string | undefined;
  /** How long the attempt took. */
  milliseconds: number;
}

/** What an app may observe: each attempt of a call, with repetitions and refreshes. */
export interface ClientHooks {
  /** Called before each attempt, which waits for it. */
  onRequest?: ((request: ObservedRequest) => void | Promise<void>) | undefined;
  /** Called after each attempt, with or without a response. */
  onResponse?: ((response: ObservedResponse) => void) | undefined;
  /** Such as `console`: `debug` for responses, `warn` where none came or the service failed. Without queries and bodies. */
  logger?: Pick<Console, 'debug' | 'warn'> | undefined;
}

/** Takes the response, or why there is none. */
type Report = (response: RawResponse | undefined, error?: NetworkError) => void;

/** Reports an attempt to the app. @returns the headers to send, and what reports the outcome */
export async function observe(
  { operation: { id, method }, url, headers: prepared }: PreparedRequest,
  { onRequest, onResponse, logger }: ClientHooks,
): Promise<{ headers: Headers; report: Report }> {
  const headers = new Headers(prepared);
  const request = { operation: id, method, url, headers };
  await onRequest?.(request);
  const start = Date.now();
  const report: Report = (response, error) => {
    const milliseconds = Date.now() - start;
    const status = response?.status;
    const requestId = response && requestIdOf(response.headers);
    logger?.[status !== undefined && status < 500 ? 'debug' : 'warn'](
      `${id} ${status ?? error?.name} in ${milliseconds} ms ${requestId ?? ''}`,
    );
    onResponse?.({ ...request, status, error, requestId, milliseconds });
  };
  return { headers, report };
}
