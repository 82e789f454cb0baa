import type { ErrorCode } from '../../errors/a2a-error.js';
import type { AgentCard } from '../../model/agent-card.js';
import { MAX_NESTING } from '../../model/json-fault.js';
import type { SecurityRequirement } from '../../model/security-scheme.js';
import type { ContentModes } from '../../operations/content-types.js';
import type { Clock } from '../../runtime/clock.js';
import type { KeyedPlaces } from '../../runtime/keyed-places.js';
import type { RequestHandler } from '../../server/request-handler.js';
import type { ArtifactEnd } from '../../task/artifact-end.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ReachedLimit } from '../../telemetry/reached-limit.js';
import type { BodyBudget } from './body-budget.js';
import type { ExchangeRequest } from './exchange.js';

/** The limits of one request. */
export interface RequestLimits {
  /** Bytes of one request body; beyond it 413. */
  readonly bodyBytes: number;
  /** Levels of objects and arrays in `data` and in `metadata`. At most 100. */
  readonly jsonDepth: number;
  /** Members of all objects and elements of all arrays in a request. */
  readonly jsonItems: number;
  /** Parts of one message. */
  readonly parts: number;
  /** Characters of an id of a tenant, context, task, message, configuration or JSON-RPC request. */
  readonly idLength: number;
}

/** The default limits of an endpoint. */
export const DEFAULT_REQUEST_LIMITS: RequestLimits = {
  bodyBytes: 10 * 1024 * 1024,
  jsonDepth: MAX_NESTING,
  jsonItems: 100_000,
  parts: 1000,
  idLength: 1024,
};

/** The highest values of limits that have one. */
export const HIGHEST_REQUEST_LIMITS: Partial<RequestLimits> = { jsonDepth: MAX_NESTING };

/** The limits of a small form or object that is no call. */
export function limitsOfSmallBody(bodyBytes: number): RequestLimits {
  return { ...DEFAULT_REQUEST_LIMITS, bodyBytes, jsonDepth: 4 };
}

/** The time without an event after which a stream sends a comment to stay alive. */
export const DEFAULT_HEARTBEAT_MS = 15_000;

/** An agent, as a binding needs it. */
export interface BindingContext {
  /** The id of the agent's task space, for records. */
  readonly agent?: string;
  readonly handler: RequestHandler;
  /** The public card: capabilities, extensions, and the offered versions of each binding. */
  readonly card: AgentCard;
  /** The media types that its author declares. Absent: the agent accepts all. */
  readonly modes?: ContentModes;
  /** The challenges for callers without a valid credential. Absent: every caller is anonymous. */
  readonly challenges?: readonly string[];
  /** True if callers without a credential are anonymous, although there are challenges. */
  readonly takesAnonymous?: boolean;
  /** The requirements of all skills. A message needs to meet one of them. Absent: some skill requires nothing more. */
  readonly skillRequirements?: readonly SecurityRequirement[];
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits: RequestLimits;
  /** Bounds the memory of large bodies. All agents of a host share it. Absent: no bound. */
  readonly bodies?: BodyBudget;
  readonly heartbeatMs: number;
  /** The version of a call that names none. The specification says `0.3` (Spec §3.6.2). */
  readonly versionWhenAbsent: string;
  /** True if only the version of a call may answer it. Absent: a name or a path of a later version counts too. */
  readonly strictVersions?: boolean;
  /** The update that ends an artifact of several chunks. Default `auto`. */
  readonly artifactEnd?: ArtifactEnd;
  /** The places of open streams, by caller. Absent: no limit. */
  readonly streamPlaces?: KeyedPlaces;
  /** Names the address of an anonymous caller in limits; `undefined` if no limit counts for it. */
  readonly addressOf?: (request: ExchangeRequest) => string | undefined;
  /** Called for each request that a limit refuses. */
  readonly limitReached?: (limit: ReachedLimit) => void;
  /** Called for each error that ends a stream after its start. */
  readonly streamBroke?: (code: ErrorCode) => void;
}
