import { A2AError, type ErrorDetails } from './a2a-error.js';

/** The text of the specification (Spec §3.3.2), followed by the particulars of the case. */
function textOf(specified: string, particular: string | undefined): string {
  return particular === undefined ? specified : `${specified}: ${particular}`;
}

/** The task does not exist, or the caller may not see it. */
export class TaskNotFoundError extends A2AError {
  override readonly name = 'TaskNotFoundError';
  constructor(taskId: string) {
    super('TASK_NOT_FOUND', 'Task not found', { metadata: { taskId } });
  }
}

/** The task has ended, or ended during the cancel request. */
export class TaskNotCancelableError extends A2AError {
  override readonly name = 'TaskNotCancelableError';
  constructor(taskId: string) {
    super('TASK_NOT_CANCELABLE', 'Task cannot be canceled', { metadata: { taskId } });
  }
}

/** The agent sends no push notifications. */
export class PushNotificationNotSupportedError extends A2AError {
  override readonly name = 'PushNotificationNotSupportedError';
  constructor() {
    super('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push Notification is not supported');
  }
}

/** The agent does not offer the operation, or the state of the task does not allow it. */
export class UnsupportedOperationError extends A2AError {
  override readonly name = 'UnsupportedOperationError';
  /** `particular` gives the reason after the text of the specification. */
  constructor(particular?: string, details?: ErrorDetails) {
    super('UNSUPPORTED_OPERATION', textOf('This operation is not supported', particular), details);
  }
}

/** The agent does not accept or produce a media type. */
export class ContentTypeNotSupportedError extends A2AError {
  override readonly name = 'ContentTypeNotSupportedError';
  /** `particular` names the media type after the text of the specification. */
  constructor(particular?: string, details?: ErrorDetails) {
    super('CONTENT_TYPE_NOT_SUPPORTED', textOf('Incompatible content types', particular), details);
  }
}

/** The agent gave an answer that the protocol does not allow. */
export class InvalidAgentResponseError extends A2AError {
  override readonly name = 'InvalidAgentResponseError';
  /** `particular` names the fault after the text of the specification. */
  constructor(particular?: string, options?: ErrorOptions) {
    super('INVALID_AGENT_RESPONSE', textOf('Invalid agent response type', particular), {}, options);
  }
}

/** The card promises an extended card, but none is configured. */
export class ExtendedAgentCardNotConfiguredError extends A2AError {
  override readonly name = 'ExtendedAgentCardNotConfiguredError';
  constructor() {
    super('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'Extended Agent Card not configured');
  }
}

/** The card requires an extension that the request does not declare. */
export class ExtensionSupportRequiredError extends A2AError {
  override readonly name = 'ExtensionSupportRequiredError';
  constructor(uri: string) {
    super('EXTENSION_SUPPORT_REQUIRED', `The extension ${uri} is required`, { metadata: { extension: uri } });
  }
}

/** The agent does not offer the requested protocol version. */
export class VersionNotSupportedError extends A2AError {
  override readonly name = 'VersionNotSupportedError';
  /** `assumed`: the caller named no version, and the server assumed this one. */
  constructor(requested: string, supported: readonly string[], { assumed = false } = {}) {
    const wrong = assumed
      ? `A call without A2A-Version is for A2A version ${requested}, which is not supported`
      : `A2A version ${requested} is not supported`;
    super('VERSION_NOT_SUPPORTED', `${wrong} here; supported: ${supported.join(', ') || 'none'}`, {
      metadata: { requestedVersion: requested, supportedVersions: supported.join(',') },
    });
  }
}
