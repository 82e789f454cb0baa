import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { RefusedAddressError } from '../../errors/refused-address-error.js';
import { redirectTarget } from '../../net/redirects.js';
import type { PlainFetch } from '../credentialed-fetch.js';
import { type FileAgent, fileUrl, isOwnUrl } from './file-agent.js';

/** A request for a file. */
interface FileRequest {
  readonly url: string;
  readonly init: RequestInit;
  /** Sends requests to other origins than the agent's. Without it they are refused. */
  readonly otherOrigins: PlainFetch | undefined;
}

/**
 * Sends a request for a file. Follows redirects itself, so that each target is judged like the first url: credentials
 * go to origins of the agent only.
 * @throws RefusedAddressError for another origin, ConnectionError, or the reason of the signal.
 */
export async function requestFile(agent: FileAgent, { url, init, otherOrigins }: FileRequest): Promise<Response> {
  let at = fileUrl(url);
  for (let redirects = 0; ; redirects++) {
    const response = await sendTo(isOwnUrl(agent, at) ? (to, how) => agent.request(to, how) : otherOrigins, at, init);
    const target = redirectTarget(response, new URL(at), redirects);
    if (target === undefined) return response;
    at = fileUrl(target.href);
  }
}

async function sendTo(send: PlainFetch | undefined, url: string, init: RequestInit): Promise<Response> {
  const { origin } = new URL(url);
  if (send === undefined)
    throw new RefusedAddressError(`${origin} is not called: the file is on another origin than its agent`);
  try {
    return await send(url, { ...init, redirect: 'manual' });
  } catch (cause) {
    init.signal?.throwIfAborted();
    if (cause instanceof A2AError || cause instanceof RefusedAddressError) throw cause;
    throw new ConnectionError(`${origin} cannot be reached: ${reasonOf(cause)}`, { sent: true, cause });
  }
}

/** The innermost message of a failure of the host. */
export function reasonOf(error: unknown): string {
  let reason = 'the connection failed';
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (at.message !== '') reason = at.message;
  return reason;
}
