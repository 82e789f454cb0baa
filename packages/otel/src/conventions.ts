import { CONVENTIONS_REVISION } from 'parley-a2a/kit';

/**
 * Names of the semantic conventions that no package has yet. Draft names may change with a new revision, so they are
 * defined only here.
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
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  toolInput: 'gen_ai.tool.call.arguments',
  toolOutput: 'gen_ai.tool.call.result',
  input: 'gen_ai.input.messages',
  output: 'gen_ai.output.messages',
} as const;

/** Attributes of this package, which no convention has. */
export const OWN = {
  /** Number of events of a stream. */
  events: 'parley.stream.events',
  /** 1 for the first attempt of a turn. */
  attempt: 'parley.turn.attempt',
  /** Seconds from the acceptance of the message to the call of its agent. */
  queueWait: 'parley.turn.queue_wait',
  /** The span that was lost with its process, in the span that replaces it. */
  lostSpan: 'parley.lost.span_id',
  /** The trace of that span. */
  lostTrace: 'parley.lost.trace_id',
  /** The next step for the turn of a lost attempt. */
  fate: 'parley.lost.fate',
  /** In a link: `cause` for the call or event that caused the span, `before` for the previous attempt or turn. */
  link: 'parley.link',
  pushConfig: 'parley.push.config_id',
  pushEvent: 'parley.push.sequence',
  pushAttempt: 'parley.push.attempt',
} as const;

/** Stable attributes. */
export const STABLE = {
  errorType: 'error.type',
  address: 'server.address',
  port: 'server.port',
  httpMethod: 'http.request.method',
  httpStatus: 'http.response.status_code',
} as const;
