import { originOf } from '../client/credential-guard.js';
import { isObject, type JsonObject } from '../model/json.js';

/** The metadata of a request with the chain of calls that it belongs to. Also the entry in cards. */
export const AGENT_CALLS_EXTENSION = 'urn:parley-a2a:extension:agent-calls:v1';

/** Maximum number of chain entries that are read. Agents that follow the rules send no longer chains. */
const MOST_VISITED = 64;
const MOST_CHARACTERS = 2_048;

/**
 * The chain of calls that led to a turn, as the last caller sent it. It is not trusted, because it can only forbid
 * calls. A caller that omits or shortens it is treated like a first caller.
 */
interface CallChain {
  /** Number of calls by agents before this turn. */
  readonly depth: number;
  /** The agents in the chain, by their places. */
  readonly visited: readonly string[];
  /** Time that the caller waits for the turn, in ms from its start. */
  readonly remainingMs: number | undefined;
  /** Tokens that the caller has left for the turn. Absent: the caller declares no budget. */
  readonly remainingTokens?: number | undefined;
}

/** The chain in the metadata of a request. Undefined if it is malformed. */
export function chainIn(metadata: JsonObject | undefined): CallChain | undefined {
  const told = metadata?.[AGENT_CALLS_EXTENSION];
  if (told === undefined) return { depth: 0, visited: [], remainingMs: undefined };
  if (!isObject(told)) return undefined;
  const { depth, visited = [], remainingMs, remainingTokens } = told as JsonObject;
  if (typeof depth !== 'number' || !Number.isSafeInteger(depth) || depth < 0) return undefined;
  if (!Array.isArray(visited) || visited.length > MOST_VISITED) return undefined;
  if (!visited.every((place) => typeof place === 'string' && place.length <= MOST_CHARACTERS)) return undefined;
  const places = placesOf(visited as readonly string[]);
  const waits = typeof remainingMs === 'number' && remainingMs >= 0 ? remainingMs : undefined;
  const tokens = typeof remainingTokens === 'number' && remainingTokens >= 0 ? Math.floor(remainingTokens) : undefined;
  return { depth, visited: places, remainingMs: waits, remainingTokens: tokens };
}

/** The metadata that a callee gets. */
export function metadataOf({ depth, visited, remainingMs, remainingTokens }: CallChain): JsonObject {
  const rest = {
    ...(remainingMs !== undefined && { remainingMs: Math.round(remainingMs) }),
    ...(remainingTokens !== undefined && { remainingTokens }),
  };
  return { [AGENT_CALLS_EXTENSION]: { depth, visited, ...rest } };
}

/** An agent that is about to call another one. */
export interface Caller {
  readonly chain: CallChain | undefined;
  /** Identifies the agent in chains. Only the agent itself adds it. */
  readonly id: string;
  /** The places of the agent itself, some of which its caller has added to the chain. */
  readonly own: readonly string[];
  readonly maxDepth: number;
}

/** The reason why an agent may not call another one, and the code of that fault. Undefined if it may. */
export function chainFault(
  { chain, id, own, maxDepth }: Caller,
  target: readonly string[],
): { readonly fault: 'depth' | 'loop'; readonly reason: string } | undefined {
  if (chain === undefined) return loop('the chain of calls before it cannot be read');
  if (chain.depth >= maxDepth) {
    return { fault: 'depth', reason: `it would be call ${chain.depth + 1} in a row, and ${maxDepth} are allowed` };
  }
  const visited = new Set(chain.visited);
  if (visited.has(id)) return loop('this agent is in the chain of calls already');
  if (target.some((place) => own.includes(place))) return loop('an agent may not call itself');
  return target.some((place) => visited.has(place)) ? loop('it is in the chain of calls already') : undefined;
}

function loop(reason: string) {
  return { fault: 'loop', reason } as const;
}

/** The chain for the callee. */
export function nextChain(
  { chain, id, own }: Caller,
  target: readonly string[],
  rest: Pick<CallChain, 'remainingMs' | 'remainingTokens'>,
): CallChain {
  const visited = new Set([...(chain?.visited ?? []), id, ...own, ...target]);
  return { depth: (chain?.depth ?? 0) + 1, visited: [...visited].slice(-MOST_VISITED), ...rest };
}

/**
 * The place of a url: its origin and path. All names of loopback are equal. Undefined for an address within the
 * process, which identifies no agent outside of it.
 */
export function placeOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed?.protocol === 'in-process:') return undefined;
  const place = parsed === null || parsed.origin === 'null' ? url : `${originOf(url)}${withoutSlash(parsed.pathname)}`;
  return place.slice(0, MOST_CHARACTERS);
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The places of urls, each once. */
export function placesOf(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.flatMap((url) => placeOf(url) ?? []))];
}
