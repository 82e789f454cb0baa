import { CONVENTIONS_REVISION } from 'parley-a2a/kit';

/**
 * Names of the semantic conventions, in the place of the packages that do not have them yet. Draft names may move with
 * a new revision: they stand here and nowhere else.
 */

/** The revision of the draft whose names are used. */
export const DRAFT_REVISION = CONVENTIONS_REVISION;

/** Attributes of the draft. */
export const DRAFT = {
  method: 'a2a.method.name',
  version: 'a2a.protocol.version',
  tenant: 'a2a.tenant',
  messageId: 'a2a.message.id',
  references: 'a2a.message.reference_task_ids',
  taskId: 'a2a.task.id',
  taskState: 'a2a.task.state',
  conversation: 'gen_ai.conversation.id',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  operation: 'gen_ai.operation.name',
} as const;

/** Attributes of this package, which no convention has. */
export const OWN = {
  /** Events of a stream until its end. */
  events: 'parley.stream.events',
  /** 1 for the first attempt of a turn. */
  attempt: 'parley.turn.attempt',
} as const;

/** Attributes that are stable. */
export const STABLE = { errorType: 'error.type', address: 'server.address', port: 'server.port' } as const;
