import type { CallerContext, Scope } from '../store/task-storage.js';
import type { AddressedMessage } from './execution/turn-log.js';
import type { TurnFiles } from './turn-files.js';

/** A turn, as the services of its server see it. */
export interface ServedTurn {
  readonly scope: Scope;
  /** The message that the turn answers. */
  readonly message: AddressedMessage;
  readonly caller: CallerContext;
  /** Aborts when the turn has to end. */
  readonly signal: AbortSignal;
}

/**
 * Services for agents that a server has only by an option. Each member makes the service of one turn, when its agent
 * first reads it. Absent members are services that the server does not have.
 */
export interface TurnPorts {
  /** For `RequestContext.files`. */
  readonly files?: (turn: ServedTurn) => TurnFiles;
}
