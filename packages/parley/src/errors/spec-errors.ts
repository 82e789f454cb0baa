import { A2AError, type ErrorDetails } from './a2a-error.js';

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
    super('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push notifications are not supported');
  }
}

/** The operation is not offered, or not in the state the task is in. */
export class UnsupportedOperationError extends A2AError {
  override readonly name = 'UnsupportedOperationError';
  constructor(message = 'This operation is not supported', details?: ErrorDetails) {
    super('UNSUPPORTED_OPERATION', message, details);
  }
}

/** A media type is not one the agent can take or give. */
export class ContentTypeNotSupportedError extends A2AError {
  override readonly name = 'ContentTypeNotSupportedError';
  constructor(message = 'Incompatible content types', details?: ErrorDetails) {
    super('CONTENT_TYPE_NOT_SUPPORTED', message, details);
  }
}

/** The agent answered something the protocol does not allow. */
export class InvalidAgentResponseError extends A2AError {
  override readonly name = 'InvalidAgentResponseError';
  constructor(message = 'The agent gave an invalid response', options?: ErrorOptions) {
    super('INVALID_AGENT_RESPONSE', message, {}, options);
  }
}

/** The card promises an extended card, but there is none. */
export class ExtendedAgentCardNotConfiguredError extends A2AError {
  override readonly name = 'ExtendedAgentCardNotConfiguredError';
  constructor() {
    super('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'The extended agent card is not configured');
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
