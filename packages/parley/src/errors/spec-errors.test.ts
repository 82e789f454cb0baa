import { expect, it } from 'vitest';
import { ERROR_NUMBERS } from '../exports/index.js';
import {
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  InvalidAgentResponseError,
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from './spec-errors.js';

it.each([
  [new TaskNotFoundError('t'), -32001, 'Task not found'],
  [new TaskNotCancelableError('t'), -32002, 'Task cannot be canceled'],
  [new PushNotificationNotSupportedError(), -32003, 'Push Notification is not supported'],
  [new UnsupportedOperationError(), -32004, 'This operation is not supported'],
  [new UnsupportedOperationError('the task has ended'), -32004, 'This operation is not supported: the task has ended'],
  [new ContentTypeNotSupportedError(), -32005, 'Incompatible content types'],
  [new ContentTypeNotSupportedError('image/png'), -32005, 'Incompatible content types: image/png'],
  [new InvalidAgentResponseError(), -32006, 'Invalid agent response type'],
  [new ExtendedAgentCardNotConfiguredError(), -32007, 'Extended Agent Card not configured'],
])('%s has the number and the text of the specification (Spec §3.3.2, §5.4)', (error, number, text) => {
  expect(ERROR_NUMBERS[error.code]).toBe(number);
  expect(error.message).toBe(text);
});
