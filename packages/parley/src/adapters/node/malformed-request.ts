import { errorAnswer } from '../../app/json-answer.js';

/** The raw answer to bytes that are no HTTP request, by the code of the parser's error. */
export function malformedRequest(code: string | undefined): string {
  const { status, reason, message } = causeOf(code);
  const { headers, body } = errorAnswer({ status, message });
  return [
    `HTTP/1.1 ${status} ${reason}`,
    `content-type: ${headers['content-type']}`,
    `content-length: ${Buffer.byteLength(body as string)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

function causeOf(code: string | undefined): { status: number; reason: string; message: string } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { status: 431, reason: 'Request Header Fields Too Large', message: 'The request headers are too large' };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, reason: 'Request Timeout', message: 'The request did not arrive in time' };
  }
  return { status: 400, reason: 'Bad Request', message: 'This is no valid HTTP request' };
}
