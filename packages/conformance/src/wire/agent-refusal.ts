import { isJson, itemsOf, type Json, memberOf } from './json.js';

/** Reasons of errors, with their code in JSON-RPC (Spec §5.4, §9.5). */
const JSON_RPC_CODES: Readonly<Record<string, number>> = {
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  INVALID_AGENT_RESPONSE: -32006,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  EXTENSION_SUPPORT_REQUIRED: -32008,
  VERSION_NOT_SUPPORTED: -32009,
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
};
const REASON_OF_CODE = new Map<unknown, string>(Object.entries(JSON_RPC_CODES).map(([reason, code]) => [code, reason]));

/** Reasons that belong to no error of the protocol. */
const OTHER_REASONS = [
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'METHOD_NOT_ALLOWED',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
];

/** Reasons by the gRPC status name in the body of HTTP+JSON (Spec §11.6). */
const REASON_OF_NAME = new Map<unknown, string>([
  ['NOT_FOUND', 'TASK_NOT_FOUND'],
  ['INVALID_ARGUMENT', 'INVALID_PARAMS'],
  ['FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  ['UNIMPLEMENTED', 'UNSUPPORTED_OPERATION'],
  ['UNAUTHENTICATED', 'UNAUTHENTICATED'],
  ['PERMISSION_DENIED', 'PERMISSION_DENIED'],
  ['INTERNAL', 'INTERNAL_ERROR'],
]);

/** Reasons by HTTP status, for bodies that name none. */
const REASON_OF_STATUS = new Map<number, string>([
  [400, 'INVALID_PARAMS'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'TASK_NOT_FOUND'],
  [405, 'METHOD_NOT_ALLOWED'],
  [409, 'TASK_NOT_CANCELABLE'],
  [415, 'CONTENT_TYPE_NOT_SUPPORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [501, 'UNSUPPORTED_OPERATION'],
  [503, 'UNAVAILABLE'],
]);

/** The agent answered a call with an error. */
export class AgentRefusal extends Error {
  override readonly name = 'AgentRefusal';
  /** The reason of the error, such as `TASK_NOT_FOUND`. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Reads the error of an answer: by the reason in its details, then by its number, then by the name or number of its
 * status.
 */
export function refusalOf(error: unknown, status: number): AgentRefusal {
  const members: Json = isJson(error) ? error : {};
  const reason =
    reasonIn(members.data ?? members.details) ??
    REASON_OF_CODE.get(members.code) ??
    REASON_OF_NAME.get(members.status) ??
    REASON_OF_STATUS.get(status) ??
    'INTERNAL_ERROR';
  const { message = members.detail ?? members.title ?? `HTTP ${status}` } = members;
  return new AgentRefusal(reason, String(message));
}

function reasonIn(details: unknown): string | undefined {
  const reasons = itemsOf(details).map((item) => memberOf(item, 'reason'));
  return reasons.find((reason): reason is string => isReason(reason));
}

function isReason(reason: unknown): boolean {
  return typeof reason === 'string' && (Object.hasOwn(JSON_RPC_CODES, reason) || OTHER_REASONS.includes(reason));
}
