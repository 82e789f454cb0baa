import type { AgentCard } from '../../model/agent-card.js';
import type { ModelTypes } from '../../model/validation.js';
import type { OPERATIONS, UnaryOperationName } from '../../operations/operations.js';
import { isLater, majorMinor } from '../../operations/versions.js';
import { HandedTask } from '../../task/handed-task.js';
import { TaskList } from '../../task/task-list.js';
import { methodsOf, routesOf } from '../operation-names.js';
import type { WireCodec } from '../wire-codec.js';
import { decodeRequest } from './decode-type.js';
import { OPERATIONS_1_0 } from './operations.js';

/** Version 1.0. Its JSON is the model, so that values in the closed form are not converted. */
export const v1_0: WireCodec = {
  version: '1.0',
  methods: methodsOf(OPERATIONS_1_0),
  routes: routesOf(OPERATIONS_1_0),
  decode: decodeRequest,
  encode,
  encodeEvent: (item) => item.text ?? JSON.stringify(item.event),
  notification: { mediaType: 'application/a2a+json' },
  encodeCard,
};

/** The list of interfaces names no version before 0.3: clients of those read another card. */
function encodeCard(card: AgentCard): string {
  const known = card.supportedInterfaces.filter(({ protocolVersion }) => !isLater('0.3', majorMinor(protocolVersion)));
  return JSON.stringify({ ...card, supportedInterfaces: known });
}

function encode(operation: UnaryOperationName, response: unknown): string {
  const { response: type } = OPERATIONS_1_0[operation];
  // DeleteTaskPushNotificationConfig has an empty response: an empty object on the wire.
  return type === undefined ? '{}' : ENCODERS[type](response as never);
}

type ResponseType = NonNullable<(typeof OPERATIONS)[UnaryOperationName]['response']>;

/** The responses as JSON. Tasks keep the text that the storage has. */
const ENCODERS: { readonly [Type in ResponseType]: (response: ModelTypes[Type]) => string } = {
  SendMessageResponse: (answer) =>
    answer.task !== undefined ? `{"task":${HandedTask.textOf(answer.task)}}` : JSON.stringify(answer),
  Task: HandedTask.textOf,
  ListTasksResponse: (list) => {
    const { nextPageToken, pageSize, totalSize } = list;
    return `{"tasks":[${TaskList.textsOf(list).join()}],${JSON.stringify({ nextPageToken, pageSize, totalSize }).slice(1)}`;
  },
  TaskPushNotificationConfig: (config) => JSON.stringify(config),
  ListTaskPushNotificationConfigsResponse: (page) => JSON.stringify(page),
  AgentCard: (card) => JSON.stringify(card),
};
