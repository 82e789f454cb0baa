import {
  anyObject,
  anything,
  base64,
  integer,
  list,
  name,
  object,
  oneOf,
  oneText,
  optional,
  text,
  texts,
  timestamp,
} from './shape.js';

const about = { metadata: optional(anyObject), filename: optional(text), mediaType: optional(text) };
const part = oneOf({ text, raw: base64, url: text, data: anything }, about);
const parts = list(part, { least: 1 });

const message = object({
  messageId: name,
  contextId: optional(name),
  taskId: optional(name),
  role: oneText('ROLE_USER', 'ROLE_AGENT'),
  parts,
  metadata: optional(anyObject),
  extensions: optional(texts),
  referenceTaskIds: optional(texts),
});

const artifact = object({
  artifactId: name,
  name: optional(text),
  description: optional(text),
  parts,
  metadata: optional(anyObject),
  extensions: optional(texts),
});

const state = oneText(
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
);

const task = object({
  id: name,
  contextId: optional(name),
  status: object({ state, message: optional(message), timestamp: optional(timestamp) }),
  artifacts: optional(list(artifact)),
  history: optional(list(message)),
  metadata: optional(anyObject),
});

/** The answer to SendMessage (Spec §3.1.1). */
export const SEND_MESSAGE_RESPONSE = oneOf({ task, message });

/** The answer to ListTasks (Spec §3.1.4). */
export const LIST_TASKS_RESPONSE = object({
  tasks: list(task),
  nextPageToken: text,
  pageSize: integer,
  totalSize: integer,
});
