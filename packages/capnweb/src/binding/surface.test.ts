import { RpcTarget } from 'capnweb';
import { OPERATION_NAMES } from 'parley-a2a/binding-kit';
import { expect, it } from 'vitest';
import { Agent, Entrance } from './entrance.js';
import { AuthenticatedA2AService } from './plain-face.js';
import { CallbackSubscription, StreamingTask } from './streaming-task.js';
import { Subscription, TaskCapability, TaskView } from './task-capability.js';

/** The methods with plain arguments. */
const PLAIN = ['sendMessage', 'sendMessageStreaming', 'getTask', 'listTasks', 'cancelTask'];

/** Every method and getter of a prototype can be called by a peer. */
it.each([
  [Entrance, ['getAgentCard', 'ping', 'authenticate', ...PLAIN]],
  [Agent, ['task', 'renew', 'ping', Symbol.dispose, ...OPERATION_NAMES]],
  [TaskCapability, ['get', 'cancel', 'send', 'subscribe', 'watch', 'view', Symbol.dispose]],
  [TaskView, ['get', 'subscribe', Symbol.dispose]],
  [AuthenticatedA2AService, ['getAgentCard', Symbol.dispose, ...PLAIN]],
  [StreamingTask, ['getTask', 'subscribe', 'unsubscribeCallback', 'isFinalState', 'dispose', Symbol.dispose]],
  [CallbackSubscription, ['subscriptionId', 'close', Symbol.dispose]],
  [Subscription, ['close', Symbol.dispose]],
])('%o has these methods only', (type, names) => {
  expect(new Set(Reflect.ownKeys(type.prototype))).toEqual(new Set(['constructor', ...names]));
  expect(Object.getPrototypeOf(type.prototype)).toBe(RpcTarget.prototype);
});
