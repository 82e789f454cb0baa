import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { StreamResponse } from 'parley-a2a';

const LARGEST_BYTES = 16 * 1024 * 1024;
/** Agents may say more than is known here. */
const UNKNOWN_MEMBER = 'is not a known member';
const KINDS = ['task', 'message', 'statusUpdate', 'artifactUpdate'];

/** What a receiver asks of notifications, and whom it tells of them. */
export interface ReceiverOptions {
  /** What `X-A2A-Notification-Token` has to say. */
  readonly token?: string | undefined;
  /** What `Authorization` has to say: the scheme and the credentials. */
  readonly authorization?: string | undefined;
  readonly onNotification: (notification: StreamResponse) => void;
  /** Told why a request was refused. */
  readonly onRefusal: (status: number, reason: string) => void;
}

/** A request that is answered with a status and a reason. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
}

/**
 * A webhook for push notifications (spec §4.3.3), not listening yet. It answers 204 before it tells of a notification; 401 to wrong tokens or
 * credentials, 400 to what is no notification, 405 to what is no POST, 413 to more than 16 MiB. What comes twice is told twice.
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

/** Whether a header says what it has to, in a time that does not tell how much of it is right. */
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
