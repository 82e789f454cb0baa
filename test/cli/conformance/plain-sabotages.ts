import {
  answers,
  asksFor,
  BROKEN,
  breaksOver,
  calls,
  continues,
  has,
  list,
  requests,
  type Sabotages,
  set,
  without,
} from './sabotage.js';
import type { Sabotage, Said, TamperedCall } from './tampering-agent.js';

/** At least one fault for each check of any agent. */
export const PLAIN_SABOTAGES: Sabotages = {
  'the card follows the schema': { 'has a number for a version': { card: (card) => ({ ...card, version: 1 }) } },
  'SendMessage answers with a task or a message': {
    breaks: { tampersWith: firstHello(), answer: () => BROKEN },
  },
  'GetTask returns a task that exists': {
    'returns another': answers((call) => call.operation === 'GetTask', set('id', 'another')),
  },
  'GetTask of an unknown task is TaskNotFound': { breaks: breaksOver(calls('GetTask'), 'NOT_FOUND') },
  'CancelTask of an unknown task is TaskNotFound': { breaks: breaksOver(calls('CancelTask'), 'NOT_FOUND') },
  'a message to an unknown task is TaskNotFound': { breaks: breaksOver(continues, 'NOT_FOUND') },
  'ListTasks keeps to the size of the page': {
    'gives more': answers(
      calls('ListTasks'),
      list('tasks', (tasks) => [...tasks, ...tasks]),
    ),
  },
  'SendStreamingMessage streams one task or one message, if the card offers streaming': {
    'begins with a status': without(calls('SendStreamingMessage'), 'task'),
    'breaks off': without(calls('SendStreamingMessage'), 'end'),
  },
  'SubscribeToTask of a task that has ended is UnsupportedOperation': {
    breaks: breaksOver(calls('SubscribeToTask'), 'UNSUPPORTED'),
  },
  'push configurations work if the card offers them, and are refused if not': {
    breaks: breaksOver(calls('ListTaskPushNotificationConfigs')),
  },
  'the extended card is refused if the card offers none': { breaks: breaksOver(calls('GetExtendedAgentCard')) },
};

/** Faults for the further checks of any agent with the kit. */
export const WIRE_SABOTAGES: Sabotages = {
  'a version that the interface does not offer is VersionNotSupported': { 'takes any': { version: '1.0' } },
  'a message without parts is refused': {
    'takes it': requests(({ params }) => has(params, '"parts":[]'), set('message.parts', [{ text: 'x' }])),
  },
  'a message without an id is refused': {
    'takes it': requests(({ params }) => has(params, '"messageId":""'), set('message.messageId', 'x')),
  },
  'a body that is not JSON is refused': { breaks: breaksOver(calls('')) },
  'TaskNotFound has the code of the binding': {
    'has another': unknownTask(({ binding }, said) =>
      binding === 'JSONRPC' ? { ...said, error: { ...said.error, code: -32050 } } : { ...said, status: 410 },
    ),
  },
  'an error names its reason and the domain of the protocol': {
    'does not': unknownTask((_, said) => ({ ...said, error: { ...said.error, data: undefined, details: undefined } })),
    'has a domain of its own': unknownTask((_, said) =>
      JSON.parse(JSON.stringify(said).replace('a2a-protocol.org', 'example.com')),
    ),
  },
  'the media type of answers is JSON': {
    'says it is text': {
      answer: (call, said) => (calls('ListTasks')(call) ? { ...said, contentType: 'text/plain' } : said),
    },
  },
  'the answer to SendMessage follows the schema': {
    'has a member of its own': answers(
      (call) => isHello(call) && call.operation === 'SendMessage',
      (result) => ({
        ...result,
        ...('task' in result ? set('task.own', 1)(result) : set('message.own', 1)(result)),
      }),
    ),
  },
  'the answer to ListTasks follows the schema': {
    'leaves the size out': answers(asksFor('pageSize', '1'), set('pageSize', undefined)),
  },
};

/** Faults of JSON-RPC only. */
export const JSON_RPC_SABOTAGES: Sabotages = {
  'an unknown method is MethodNotFound': { breaks: breaksOver(calls('ParleyConformance')) },
  'another version of JSON-RPC is InvalidRequest': { breaks: breaksOver(({ envelope }) => envelope.jsonrpc === '1.0') },
  'an answer has the id of its request': {
    'has another': { answer: ({ envelope }, said) => (envelope.id === 'parley-7' ? { ...said, id: 1 } : said) },
  },
};

/** Faults of an agent with an extended card. */
export const EXTENDED_CARD_SABOTAGES: Sabotages = {
  'the extended card is given to authorized callers, if the card offers one': {
    breaks: breaksOver(calls('GetExtendedAgentCard')),
  },
};

/** Faults of an agent without streams. */
export const STREAMLESS_SABOTAGES: Sabotages = {
  'SendStreamingMessage is UnsupportedOperation if the card does not offer streaming': {
    breaks: breaksOver(calls('SendStreamingMessage')),
  },
};

function isHello({ params }: TamperedCall): boolean {
  return has(params, '"text":"Hello"') && !has(params, '"taskId"');
}

/** Selects only the first message that creates a task, because later checks send the same one. */
function firstHello() {
  let messages = 0;
  return (call: TamperedCall) => call.operation === 'SendMessage' && isHello(call) && ++messages === 1;
}

/** Changes the refusal of an unknown task. */
function unknownTask(change: (call: TamperedCall, said: Said) => Said): Sabotage {
  return {
    answer: (call, said) => (call.operation === 'GetTask' && said.error !== undefined ? change(call, said) : said),
  };
}
