import type { AgentCard } from '../../model/agent-card.js';
import type { SendMessageResponse } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import type { ListTasksResponse } from '../../model/task-requests.js';
import type { OperationName } from '../../operations/operations.js';
import { isLater, majorMinor } from '../../operations/versions.js';
import { HandedTask } from '../../task/handed-task.js';
import type { WireCodec } from '../wire-codec.js';
import { decodeRequest } from './decode.js';
import { METHODS } from './methods.js';
import { ROUTES } from './routes.js';

/** Version 1.0: the model is its JSON form, so nothing is converted that already has it. */
export const v1_0: WireCodec = {
  version: '1.0',
  // The second name is one that some clients keep from before 1.0.
  methods: new Map([...METHODS, ['SetPushNotificationConfig', 'createTaskPushNotificationConfig']]),
  routes: ROUTES,
  decode: decodeRequest,
  encode,
  encodeEvent: (item) => item.text ?? JSON.stringify(item.event),
  encodeCard,
};

/** Versions before 0.3 had no way to stand in the list of interfaces; their clients read a card of their own. */
function encodeCard(card: AgentCard): string {
  const known = card.supportedInterfaces.filter(({ protocolVersion }) => !isLater('0.3', majorMinor(protocolVersion)));
  return JSON.stringify({ ...card, supportedInterfaces: known });
}

function encode(operation: OperationName, response: unknown): string {
  switch (operation) {
    case 'sendMessage': {
      const answer = response as SendMessageResponse;
      return 'task' in answer ? `{"task":${HandedTask.textOf(answer.task)}}` : JSON.stringify(answer);
    }
    case 'getTask':
    case 'cancelTask':
      return HandedTask.textOf(response as Task);
    case 'listTasks': {
      const { tasks, ...page } = response as ListTasksResponse;
      return `{"tasks":[${tasks.map(HandedTask.textOf).join()}],${JSON.stringify(page).slice(1)}`;
    }
    default:
      // Deleting answers with nothing, which on this wire is an empty object.
      return response === undefined ? '{}' : JSON.stringify(response);
  }
}
