import { A2AError, type ErrorDetails } from './a2a-error.js';

/** The text of the specification (Spec §3.3.2), with what is particular to the case behind it. */
function textOf(specified: string, particular: string | undefined): string {
  return particular === undefined ? specified : `${specified}: ${particular}`;
}

/** The task does not exist, or not for this caller. */
export class TaskNotFoundError extends A2AError {
  override readonly name = 'TaskNotFoundError';
  constructor(taskId: string) {
    super('TASK_NOT_FOUND', 'Task not found', { metadata: { taskId } });
  }
}

/** The task has ended, or ended otherwise while it was being canceled. */
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

/** The operation is not offered, or not in the state the task is in. */
export class UnsupportedOperationError extends A2AError {
  override readonly name = 'UnsupportedOperationError';
  /** `particular` says why, behind the text of the specification. */
  constructor(particular?: string, details?: ErrorDetails) {
    super('UNSUPPORTED_OPERATION', textOf('This operation is not supported', particular), details);
  }
}

/** A media type is not one the agent can take or give. */
export class ContentTypeNotSupportedError extends A2AError {
  override readonly name = 'ContentTypeNotSupportedError';
  /** `particular` names the type, behind the text of the specification. */
  constructor(particular?: string, details?: ErrorDetails) {
    super('CONTENT_TYPE_NOT_SUPPORTED', textOf('Incompatible content types', particular), details);
  }
}

/** The agent answered something the protocol does not allow. */
export class InvalidAgentResponseError extends A2AError {
  override readonly name = 'InvalidAgentResponseError';
  /** `particular` says what is wrong, behind the text of the specification. */
  constructor(particular?: string, options?: ErrorOptions) {
    super('INVALID_AGENT_RESPONSE', textOf('Invalid agent response type', particular), {}, options);
  }
}

/** The card promises an extended card, but there is none. */
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

/** The protocol version asked for is not offered here. */
export class VersionNotSupportedError extends A2AError {
  override readonly name = 'VersionNotSupportedError';
  /** `assumed`: the caller named no version, and this is the one that means. */
  constructor(requested: string, supported: readonly string[], { assumed = false } = {}) {
    const wrong = assumed
      ? `A call without A2A-Version is for A2A version ${requested}, which is not supported`
      : `A2A version ${requested} is not supported`;
    super('VERSION_NOT_SUPPORTED', `${wrong} here; supported: ${supported.join(', ') || 'none'}`, {
      metadata: { requestedVersion: requested, supportedVersions: supported.join(',') },
    });
  }
}
