import type { AgentCard } from '../../model/agent-card.js';
import type { StreamResponse } from '../../model/stream-response.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../../operations/operations.js';
import type { ClientCodec } from '../client-codec.js';
import {
  checkAddress,
  checkArtifact,
  checkList,
  checkMessage,
  checkStatus,
  checkTask,
  checkText,
  members,
  wrong,
} from './answer-checks.js';
import { METHODS } from './methods.js';
import { ROUTES } from './routes.js';

const methodOf: { [Name in OperationName]?: string } = {};
for (const [method, operation] of METHODS) methodOf[operation] = method;

/** Version 1.0: the model is its JSON form, so answers are looked over and taken as they are. */
export const clientV1_0: ClientCodec = {
  version: '1.0',
  methodOf,
  routes: ROUTES,
  encodeRequest: (_, request) => request as Readonly<Record<string, unknown>>,
  decodeResponse,
  decodeEvent,
  decodeCard,
};

function decodeResponse<Name extends UnaryOperationName>(
  operation: Name,
  value: unknown,
): OperationTypes[Name]['response'] {
  return decoded(operation, value) as OperationTypes[Name]['response'];
}

function decoded(operation: UnaryOperationName, value: unknown): unknown {
  switch (operation) {
    case 'sendMessage': {
      const answer = members(value, 'result');
      if (isThere(answer.task)) checkTask(answer.task, 'task');
      else if (isThere(answer.message)) checkMessage(answer.message, 'message');
      else throw wrong('the task or message', undefined, 'an object');
      return answer;
    }
    case 'getTask':
    case 'cancelTask':
      checkTask(value, 'task');
      return value;
    case 'listTasks': {
      const page = members(value, 'result');
      checkList(page, 'tasks', 'result', checkTask);
      return Object.assign(page, {
        tasks: page.tasks ?? [],
        nextPageToken: page.nextPageToken ?? '',
        pageSize: page.pageSize ?? 0,
        totalSize: page.totalSize ?? 0,
      });
    }
    case 'createTaskPushNotificationConfig':
    case 'getTaskPushNotificationConfig':
      checkText(members(value, 'configuration'), 'url', 'configuration');
      return value;
    case 'listTaskPushNotificationConfigs': {
      const page = members(value, 'result');
      checkList(page, 'configs', 'result', members);
      return Object.assign(page, { configs: page.configs ?? [], nextPageToken: page.nextPageToken ?? '' });
    }
    case 'deleteTaskPushNotificationConfig':
      return undefined;
    case 'getExtendedAgentCard':
      return decodeCard(value);
  }
}

function decodeEvent(value: unknown): StreamResponse | undefined {
  const event = members(value, 'event');
  if (isThere(event.artifactUpdate)) {
    const update = members(event.artifactUpdate, 'artifactUpdate');
    checkText(update, 'taskId', 'artifactUpdate');
    checkArtifact(update.artifact, 'artifactUpdate.artifact');
  } else if (isThere(event.statusUpdate)) {
    const update = members(event.statusUpdate, 'statusUpdate');
    checkText(update, 'taskId', 'statusUpdate');
    checkStatus(update.status, 'statusUpdate.status');
  } else if (isThere(event.task)) checkTask(event.task, 'task');
  else if (isThere(event.message)) checkMessage(event.message, 'message');
  else return undefined;
  return event as unknown as StreamResponse;
}

/** Lists that writers leave out when they are empty are there; an interface without a version is of this one. */
function decodeCard(value: unknown): AgentCard {
  const card = members(value, 'card');
  checkText(card, 'name', 'card');
  checkList(card, 'supportedInterfaces', 'card', (item, path) => {
    const entry = members(item, path);
    checkText(entry, 'url', path);
    checkAddress(entry, path);
    checkText(entry, 'protocolBinding', path);
  });
  const interfaces = (card.supportedInterfaces ?? []) as AgentCard['supportedInterfaces'];
  return {
    description: '',
    version: '',
    ...card,
    supportedInterfaces: interfaces.map((item) => ({ ...item, protocolVersion: item.protocolVersion || '1.0' })),
    capabilities: card.capabilities ?? {},
    defaultInputModes: card.defaultInputModes ?? [],
    defaultOutputModes: card.defaultOutputModes ?? [],
    skills: card.skills ?? [],
  } as unknown as AgentCard;
}

/** `null` is as good as absent (spec §5.5). */
function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
