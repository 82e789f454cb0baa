import type { OperationName } from '../../operations/operations.js';
import type { Dialect } from './dialect.js';

type Renaming = readonly (readonly [RegExp, string])[];

const SHARED: Renaming = [
  [/^configuration\.taskPushNotificationConfig\b/, 'configuration.pushNotificationConfig'],
  [/^configuration\.returnImmediately$/, 'configuration.blocking'],
  [/\bauthentication\.scheme$/, 'authentication.schemes'],
  [/(\bparts\[\d+\])\.raw$/, '$1.file.bytes'],
  [/(\bparts\[\d+\])\.url$/, '$1.file.uri'],
  [/(\bparts\[\d+\])\.filename$/, '$1.file.name'],
  [/(\bparts\[\d+\])\.mediaType$/, '$1.file.mimeType'],
];
const PROTO: Renaming = [
  [/^configuration\.pushNotificationConfig\b/, 'configuration.pushNotification'],
  [/^message\.parts\b/, 'message.content'],
  [/\.file\.bytes$/, '.file.fileWithBytes'],
  [/\.file\.uri$/, '.file.fileWithUri'],
];
const CONFIG: Renaming = [
  [/^id$/, 'pushNotificationConfigId'],
  [/^taskId$/, 'id'],
];
const CREATE: Renaming = [[/^(?!taskId$)/, 'pushNotificationConfig.']];
const OF_OPERATION: { readonly [Name in OperationName]?: Renaming } = {
  createTaskPushNotificationConfig: CREATE,
  getTaskPushNotificationConfig: CONFIG,
  listTaskPushNotificationConfigs: CONFIG,
  deleteTaskPushNotificationConfig: CONFIG,
};

/** The path of a member at fault as the caller wrote it. */
export function oldField({ kinds }: Dialect, operation: OperationName, field: string): string {
  const renamings = [...SHARED, ...(kinds ? [] : PROTO), ...(OF_OPERATION[operation] ?? [])];
  return renamings.reduce((path, [pattern, name]) => path.replace(pattern, name), field);
}

/** A description in the words of these versions: a file part has its content in `file`. */
export function oldWords(description: string): string {
  return description.replace('exactly one of text, raw, url, data', 'exactly one of text, file, data');
}
