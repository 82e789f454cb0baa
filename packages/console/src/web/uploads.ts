import { signal } from '@preact/signals';

/** The share of the message that has been sent, from 0 to 1. Undefined: no large message is being sent. */
export const uploadProgress = signal<number | undefined>(undefined);

/** Maximum length of a body that is sent without progress, in characters. */
export const MOST_SILENT = 200_000;

/** Sends a long request with progress, which `fetch` of browsers does not report. The answer is streamed. */
export function uploadingFetch(url: string, init: RequestInit): Promise<Response> {
  const { method = 'POST', headers, body, signal: aborts } = init;
  const request = new XMLHttpRequest();
  request.open(method, url);
  for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value);
  uploadProgress.value = 0;
  request.upload.onprogress = ({ loaded, total }) => {
    uploadProgress.value = total === 0 ? 0 : loaded / total;
  };
  request.upload.onloadend = () => {
    uploadProgress.value = undefined;
  };
  return new Promise((resolve, reject) => {
    let seen = 0;
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const encoder = new TextEncoder();
    const failed = (error: unknown): void => {
      uploadProgress.value = undefined;
      reject(error);
      controller?.error(error);
      controller = undefined;
    };
    const pass = (): void => {
      const { responseText } = request;
      if (responseText.length > seen) controller?.enqueue(encoder.encode(responseText.slice(seen)));
      seen = responseText.length;
    };
    request.onreadystatechange = () => {
      if (request.readyState !== XMLHttpRequest.HEADERS_RECEIVED) return;
      const stream = new ReadableStream<Uint8Array>({
        start: (made) => {
          controller = made;
        },
        cancel: () => {
          controller = undefined;
          request.abort();
        },
      });
      const { status, statusText } = request;
      const isEmpty = status === 204 || status === 304;
      resolve(new Response(isEmpty ? null : stream, { status, statusText, headers: headersOf(request) }));
    };
    request.onprogress = pass;
    request.onload = () => {
      pass();
      controller?.close();
      controller = undefined;
    };
    request.onerror = () => failed(new TypeError('The message could not be sent'));
    aborts?.addEventListener('abort', () => {
      failed(aborts.reason);
      request.abort();
    });
    request.send(body as XMLHttpRequestBodyInit);
  });
}

function headersOf(request: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().split('\r\n')) {
    const at = line.indexOf(':');
    if (at > 0) headers.append(line.slice(0, at), line.slice(at + 1).trim());
  }
  return headers;
}
