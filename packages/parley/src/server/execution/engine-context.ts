import type { User } from '../../auth/user.js';
import { cloneJson } from '../../model/clone-json.js';
import type { Clock } from '../../runtime/clock.js';
import type { EqualTimers } from '../../runtime/equal-timers.js';
import type { IdSource } from '../../runtime/id-source.js';
import type { KeyedPlaces } from '../../runtime/keyed-places.js';
import type { LoadedOnDemand } from '../../runtime/loaded-on-demand.js';
import type { UncaughtErrors } from '../../runtime/uncaught-errors.js';
import type { CallerContext } from '../../store/caller-context.js';
import type { Scope } from '../../store/task-key.js';
import type { TaskStorage } from '../../store/task-storage.js';
import type { ArtifactEnd } from '../../task/artifact-end.js';
import type { Logger } from '../../telemetry/logger.js';
import type { AgentExecutor } from '../agent-executor.js';
import type { SecretSealer } from '../authorization.js';
import type { EngineLimits } from '../engine-limits.js';
import type { TurnPorts } from '../turn-ports.js';
import type { Authorizations } from './authorizations.js';
import type { EngineNode } from './engine-node.js';
import type { TaskFeeds } from './task-feeds.js';

/** Shared by the parts of one agent's engine. */
export interface EngineContext {
  /** Id of the agent's task space. */
  readonly agent: string;
  readonly executor: AgentExecutor;
  readonly storage: TaskStorage;
  readonly feeds: TaskFeeds;
  readonly clock: Clock;
  /** Timers for the deadline of a turn. */
  readonly deadlines: EqualTimers;
  /** Timers for the grace of an agent that has to end. */
  readonly graces: EqualTimers;
  /** Expiries of tasks that wait for their caller while their agent runs. */
  readonly expiries: EqualTimers;
  /** Limits of waits for the storage. */
  readonly patience: EqualTimers;
  /** Timers of chunks that are held back. */
  readonly heldChunks: EqualTimers;
  /** The update that ends an artifact of several chunks. */
  readonly artifactEnd: ArtifactEnd;
  readonly ids: IdSource;
  /** The address of the callback endpoint for authorizations, or "". */
  readonly callbackUrl: (() => string) | undefined;
  /** Encrypts credentials that a turn keeps. Absent: they are in memory only. */
  readonly secrets: SecretSealer | undefined;
  /** The authorizations that agents wait for, loaded when an agent asks for the first one. */
  readonly authorizations: LoadedOnDemand<Authorizations>;
  readonly uncaughtErrors: UncaughtErrors;
  readonly logger: Logger;
  readonly limits: EngineLimits;
  /** Additions of the server to the context of a turn. */
  readonly turnPorts: TurnPorts;
  /** The places of turns, by caller, for all agents of the process. */
  readonly turnPlaces: KeyedPlaces;
  /** The process on the storage. */
  readonly node: EngineNode;
}

/** The caller of a turn, from its stored context, in an object of its own. */
export function callerOf(scope: Scope, caller: CallerContext): User | undefined {
  return scope.owner === null ? undefined : { id: scope.owner, ...cloneJson(caller.user) };
}
