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

/** Objects that the parts of one agent's engine share. */
export interface EngineContext {
  /** Id of the agent's task space. */
  readonly agent: string;
  readonly executor: AgentExecutor;
  readonly storage: TaskStorage;
  readonly feeds: TaskFeeds;
  readonly clock: Clock;
  /** Timers for the deadlines of turns. */
  readonly deadlines: EqualTimers;
  /** Timers for the grace periods of agents. */
  readonly graces: EqualTimers;
  /** Timers for tasks that wait for their caller while their agent runs. */
  readonly expiries: EqualTimers;
  /** Timers for the time limit of storage calls. */
  readonly patience: EqualTimers;
  /** Timers for held-back chunks. */
  readonly heldChunks: EqualTimers;
  /** The update that ends an artifact of several chunks. */
  readonly artifactEnd: ArtifactEnd;
  readonly ids: IdSource;
  /** Returns the address of the callback endpoint for authorizations, or "". */
  readonly callbackUrl: (() => string) | undefined;
  /** Encrypts stored credentials of turns. Absent: they are in memory only. */
  readonly secrets: SecretSealer | undefined;
  /** The authorizations that agents wait for, loaded with the first request. */
  readonly authorizations: LoadedOnDemand<Authorizations>;
  readonly uncaughtErrors: UncaughtErrors;
  readonly logger: Logger;
  readonly limits: EngineLimits;
  /** Services that the server adds to the context of a turn. */
  readonly turnPorts: TurnPorts;
  /** Concurrency limits of turns by caller, for all agents of the process. */
  readonly turnPlaces: KeyedPlaces;
  /** The process on the storage. */
  readonly node: EngineNode;
}

/** Returns a new user object from the stored caller context of a turn. */
export function callerOf(scope: Scope, caller: CallerContext): User | undefined {
  return scope.owner === null ? undefined : { id: scope.owner, ...cloneJson(caller.user) };
}
