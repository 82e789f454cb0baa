import { A2AError } from '../../errors/a2a-error.js';
import type { AgentCard, AgentInterface } from '../../model/agent-card.js';
import { FILES_EXTENSION, TUS_VERSION } from '../../operations/files-extension.js';
import type { Clock } from '../../runtime/clock.js';
import { originOf } from '../credential-guard.js';
import type { PlainFetch } from '../credentialed-fetch.js';
import { webUrl } from '../document-source.js';

/** The parts of a client that files need. A `Client` has them. */
export interface FileAgent {
  readonly card: AgentCard;
  readonly agentInterface: AgentInterface;
  /** Sends a request with the credentials of the client, which go to trusted origins only. */
  request: PlainFetch;
}

/** The ports of a transfer. */
export interface FileRuntime {
  readonly clock: Clock;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
}

/** The state of a transfer. */
export interface FileProgress {
  /** Bytes of the file that were transferred, with those of earlier attempts. */
  readonly bytes: number;
  /** Bytes of the whole file; undefined if it is unknown. */
  readonly total: number | undefined;
}

/** The place where an agent takes files, as its card declares it. */
export interface FileEndpoint {
  readonly url: string;
  /** The largest file in bytes; undefined if the card tells none. */
  readonly maxBytes: number | undefined;
  /** True if the agent takes uploads in several requests. */
  readonly isResumable: boolean;
}

/** Returns where an agent takes files; undefined if it has no card that declares such a place. */
export function fileEndpoint(card: AgentCard): FileEndpoint | undefined {
  const declared = card?.capabilities?.extensions?.find(({ uri }) => uri === FILES_EXTENSION)?.params;
  const url = typeof declared?.url === 'string' ? webUrl(declared.url)?.href : undefined;
  const maxBytes = declared?.maxBytes;
  if (url === undefined) return undefined;
  const isResumable = declared?.resumable === TUS_VERSION;
  return { url, maxBytes: typeof maxBytes === 'number' ? maxBytes : undefined, isResumable };
}

/** True if a url is on an origin of the agent: that of the interface in use, or of its files. */
export function isOwnUrl(agent: Pick<FileAgent, 'card' | 'agentInterface'>, url: string): boolean {
  const own = [agent?.agentInterface?.url, fileEndpoint(agent?.card)?.url].flatMap((place) => place ?? []);
  return own.some((place) => originOf(place) === originOf(url));
}

/** The url of an answer or a part. */
export function fileUrl(url: string, base?: string): string {
  const parsed = webUrl(url, base);
  if (parsed === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', 'The url of a file is no http or https url');
  return parsed.href;
}
