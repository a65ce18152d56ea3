import { abortReason } from './retries.ts';

/** How much of an upload was sent, in bytes, with what frames the files. */
export interface UploadProgress {
  loaded: number;
  total: number;
}

/** Whether progress can be observed: `fetch` does not report it, and XMLHttpRequest is in browsers and React Native only. */
export const canReportProgress = (): boolean => typeof XMLHttpRequest === 'function';

/**
 * Like `fetch`, and reports the progress of the upload.
 *
 * @throws TypeError without network, or an AbortError
 */
export function fetchWithProgress(
  url: string,
  { method = 'POST', headers, body, signal }: RequestInit & { body: FormData },
  onProgress: (progress: UploadProgress) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    new Headers(headers).forEach((value, name) => {
      request.setRequestHeader(name, value);
    });
    request.upload.onprogress = ({ loaded, total }) => onProgress({ loaded, total });
    request.onload = () => {
      // XMLHttpRequest has followed a redirect: `fetch` responds with the status 0 in its place.
      resolve(isAt(request, url) ? responseOf(request) : Response.error());
    };
    request.onerror = () => reject(new TypeError('Failed to fetch'));
    request.onabort = () => reject(abortReason(signal ?? undefined));
    signal?.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}

function isAt({ responseURL }: XMLHttpRequest, url: string): boolean {
  const hrefOf = (text: string) => new URL(text, globalThis.location?.href).href;
  return !responseURL || hrefOf(responseURL) === hrefOf(url);
}

function responseOf(request: XMLHttpRequest): Response {
  const lines = request.getAllResponseHeaders().trim().split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const end = line.indexOf(':');
    return [line.slice(0, end), line.slice(end + 1).trim()];
  });
  const { status, responseText } = request;
  return new Response(responseText, { status, headers: headers.filter(([name]) => name !== '') });
}
