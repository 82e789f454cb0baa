import { receivedChallenges } from '../../auth/challenge.js';
import { A2AError } from '../../errors/a2a-error.js';
import { PermissionDeniedError, UnauthenticatedError } from '../../errors/standard-errors.js';

/** The maximum number of bytes that are read of an answer that is no file. */
const ANSWER_BYTES = 64 * 1024;

/** A file that an agent keeps. */
export interface UploadedFile {
  readonly id: string;
  /** The url to send in a part of a message. */
  readonly url: string;
  readonly filename?: string;
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** The SHA-256 of the content that the agent reports. */
  readonly digest?: string;
  /** RFC 3339. Absent if the file does not expire. */
  readonly expiresAt?: string;
}

/** Makes the error of an answer that refuses a file. Reads a bounded part of its body. */
export async function refusalOf(response: Response): Promise<A2AError> {
  const { status, headers } = response;
  const said = messageIn(await answerText(response));
  if (status === 401) return new UnauthenticatedError(receivedChallenges(headers));
  if (status === 403)
    return new PermissionDeniedError(said ?? 'The agent refuses the file', receivedChallenges(headers));
  const message = said ?? `The agent answers with status ${status}`;
  const seconds = Number(headers.get('retry-after') ?? 0);
  return new A2AError(codeOf(status), message, seconds > 0 ? { retryAfterMs: seconds * 1000 } : {});
}

function codeOf(status: number): A2AError['code'] {
  if (status === 413) return 'PAYLOAD_TOO_LARGE';
  if (status === 415) return 'CONTENT_TYPE_NOT_SUPPORTED';
  if (status === 429 || status === 507) return 'RESOURCE_EXHAUSTED';
  if (status === 502 || status === 503 || status === 504) return 'UNAVAILABLE';
  return status >= 400 && status < 500 ? 'INVALID_REQUEST' : 'INVALID_AGENT_RESPONSE';
}

/**
 * Reads the answer to an upload.
 * @throws A2AError INVALID_AGENT_RESPONSE if it names no file.
 */
export async function uploadedFile(response: Response): Promise<UploadedFile> {
  const value = parse(await answerText(response));
  const { id, url, filename, mediaType, size, digest, expiresAt } = value;
  if (typeof id !== 'string' || typeof url !== 'string' || typeof size !== 'number')
    throw new A2AError('INVALID_AGENT_RESPONSE', 'The answer to an upload names no file');
  return {
    id,
    url,
    size,
    mediaType: typeof mediaType === 'string' ? mediaType : 'application/octet-stream',
    ...(typeof filename === 'string' && { filename }),
    ...(typeof digest === 'string' && { digest }),
    ...(typeof expiresAt === 'string' && { expiresAt }),
  };
}

/**
 * Returns the SHA-256 in a digest field (RFC 9530) or in a bare text, in base64; undefined if it has none. A text of 64
 * hex digits counts too.
 */
export function sha256Of(field: string | null | undefined): string | undefined {
  if (typeof field !== 'string' || field.length > 1000) return undefined;
  const inField = /(?:^|[\s,])sha-256=:?([\w+/-]{43}=?):?(?:$|[\s,;])/i.exec(field)?.[1];
  const text = inField ?? field.replace(/^sha-?256[:=]/i, '');
  if (/^[\da-f]{64}$/i.test(text))
    return base64(Uint8Array.from(text.match(/../g) ?? [], (pair) => Number(`0x${pair}`)));
  return /^[\w+/-]{43}=?$/.test(text) ? `${text.slice(0, 43).replaceAll('-', '+').replaceAll('_', '/')}=` : undefined;
}

/** Bytes as base64. */
function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function messageIn(text: string): string | undefined {
  const { error, detail, message } = parse(text);
  const inner = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : undefined;
  const said = [inner, detail, message].find((one) => typeof one === 'string');
  return typeof said === 'string' && said !== '' ? said.slice(0, 1000) : undefined;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The beginning of an answer as text. If the connection breaks, the part before that. */
async function answerText({ body }: Response): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    while (bytes < ANSWER_BYTES) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return text;
  } finally {
    reader.cancel().catch(() => {});
  }
  return text;
}
