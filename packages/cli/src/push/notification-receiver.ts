import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { StreamResponse } from 'parley-a2a';

const LARGEST_BYTES = 16 * 1024 * 1024;
/** Agents may send members that this version does not know. */
const UNKNOWN_MEMBER = 'is not a known member';
const KINDS = ['task', 'message', 'statusUpdate', 'artifactUpdate'];

/** The options of `notificationReceiver`. */
export interface ReceiverOptions {
  /** Required value of `X-A2A-Notification-Token`. */
  readonly token?: string | undefined;
  /** Required value of `Authorization`: the scheme and the credentials. */
  readonly authorization?: string | undefined;
  readonly onNotification: (notification: StreamResponse) => void;
  /** Called with the reason of each refusal. */
  readonly onRefusal: (status: number, reason: string) => void;
}

/** The answer to a request that is refused. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
}

/**
 * Makes a webhook for push notifications (Spec §4.3.3) that does not listen yet. It answers 204 before it passes a
 * notification on. Refusals: 401 for a wrong token or credentials, 400 for a body that is no notification, 405 for
 * other methods, 413 above 16 MiB. Duplicates are passed on.
 */
export function notificationReceiver(options: ReceiverOptions): Server {
  return createServer((request, response) => {
    received(request, options).then(
      (outcome) => answer(response, outcome, options),
      () => response.destroy(),
    );
  });
}

function answer(
  response: ServerResponse,
  outcome: StreamResponse | Refusal,
  { authorization, onNotification, onRefusal }: ReceiverOptions,
): void {
  if (!('reason' in outcome)) {
    response.writeHead(204).end(() => onNotification(outcome));
    return;
  }
  const { status, reason } = outcome;
  const challenge =
    status === 401 && authorization !== undefined ? { 'www-authenticate': schemeOf(authorization) } : {};
  const headers = { 'content-type': 'application/json', connection: 'close', ...challenge };
  response.writeHead(status, headers).end(JSON.stringify({ error: reason }));
  onRefusal(status, reason);
}

async function received(request: IncomingMessage, options: ReceiverOptions): Promise<StreamResponse | Refusal> {
  if (request.method !== 'POST') return { status: 405, reason: 'notifications come by POST' };
  const { headers } = request;
  const token = headers['x-a2a-notification-token'] ?? headers['a2a-notification-token'];
  if (!isSecret(token, options.token)) return { status: 401, reason: 'X-A2A-Notification-Token is not the token' };
  if (!isSecret(headers.authorization, options.authorization))
    return { status: 401, reason: 'Authorization does not name the scheme and the credentials' };
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= LARGEST_BYTES) chunks.push(chunk);
  }
  if (bytes > LARGEST_BYTES) return { status: 413, reason: `the body has more than ${LARGEST_BYTES} bytes` };
  return notificationIn(Buffer.concat(chunks).toString('utf8'));
}

/** Compares a header with its required value in constant time. */
function isSecret(said: string | string[] | undefined, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  return timingSafeEqual(hashOf(String(said)), hashOf(wanted));
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function schemeOf(authorization: string): string {
  return authorization.slice(0, authorization.indexOf(' '));
}

async function notificationIn(text: string): Promise<StreamResponse | Refusal> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { status: 400, reason: 'the body is no JSON' };
  }
  const kinds = typeof body === 'object' && body !== null ? KINDS.filter((kind) => kind in body) : [];
  if (kinds.length !== 1) return { status: 400, reason: `the body has none, or several, of ${KINDS.join(', ')}` };
  const { violationsOf } = await import('parley-a2a/schema');
  const first = violationsOf('StreamResponse', body).find(({ description }) => description !== UNKNOWN_MEMBER);
  if (first !== undefined) return { status: 400, reason: `${first.field} ${first.description}` };
  return body as StreamResponse;
}
