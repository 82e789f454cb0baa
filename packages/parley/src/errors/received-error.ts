import { A2AError, type ErrorCode, type ErrorDetails } from './a2a-error.js';
import { beginAtCaller } from './callers-stack.js';
import {
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  InvalidAgentResponseError,
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from './spec-errors.js';
import { InternalError, InvalidParamsError, PermissionDeniedError, UnauthenticatedError } from './standard-errors.js';

type ErrorClass = { readonly prototype: A2AError };

const CLASSES: { readonly [Code in ErrorCode]?: readonly [name: string, type: ErrorClass] } = {
  TASK_NOT_FOUND: ['TaskNotFoundError', TaskNotFoundError],
  TASK_NOT_CANCELABLE: ['TaskNotCancelableError', TaskNotCancelableError],
  PUSH_NOTIFICATION_NOT_SUPPORTED: ['PushNotificationNotSupportedError', PushNotificationNotSupportedError],
  UNSUPPORTED_OPERATION: ['UnsupportedOperationError', UnsupportedOperationError],
  CONTENT_TYPE_NOT_SUPPORTED: ['ContentTypeNotSupportedError', ContentTypeNotSupportedError],
  INVALID_AGENT_RESPONSE: ['InvalidAgentResponseError', InvalidAgentResponseError],
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: ['ExtendedAgentCardNotConfiguredError', ExtendedAgentCardNotConfiguredError],
  EXTENSION_SUPPORT_REQUIRED: ['ExtensionSupportRequiredError', ExtensionSupportRequiredError],
  VERSION_NOT_SUPPORTED: ['VersionNotSupportedError', VersionNotSupportedError],
  INVALID_PARAMS: ['InvalidParamsError', InvalidParamsError],
  UNAUTHENTICATED: ['UnauthenticatedError', UnauthenticatedError],
  PERMISSION_DENIED: ['PermissionDeniedError', PermissionDeniedError],
  INTERNAL_ERROR: ['InternalError', InternalError],
};

/** An error as a peer has sent it. */
interface ReceivedErrorOptions {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: ErrorDetails;
  /** HTTP challenges of the answer. */
  readonly challenges?: readonly string[];
  readonly cause?: unknown;
}

/**
 * Makes an error of a peer an instance of the class that the peer threw. Skips the constructors of these classes,
 * because they write message and details; here both come from the peer.
 */
export function receivedError({ code, message, details = {}, challenges = [], cause }: ReceivedErrorOptions): A2AError {
  const error = new A2AError(code, message, details, cause === undefined ? undefined : { cause });
  const [name, type] = CLASSES[code] ?? [];
  if (name === undefined || type === undefined) return beginAtCaller(error);
  Object.setPrototypeOf(error, type.prototype);
  Object.assign(error, { name }, (code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED') && { challenges });
  return beginAtCaller(error);
}
