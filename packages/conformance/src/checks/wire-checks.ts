import { type Check, UNKNOWN_TASK } from '../check.js';
import { expectRefusal, type Finding, fail, pass, skip } from '../finding.js';
import { LIST_TASKS_RESPONSE, SEND_MESSAGE_RESPONSE } from '../schema/message-shapes.js';
import { problemsIn, type Shape } from '../schema/shape.js';
import type { TestedAgent } from '../tested-agent.js';
import { AgentRefusal } from '../wire/agent-refusal.js';
import type { RawAnswer, RawRequest } from '../wire/agent-wire.js';
import { itemsOf, memberOf } from '../wire/json.js';

/** Checks of the wire itself, for any agent of 1.x. */
export const WIRE_CHECKS: readonly Check[] = [
  {
    spec: '§3.6.2',
    requirement: 'a version that the interface does not offer is VersionNotSupported',
    run: (agent) => {
      const alter = (request: RawRequest) => ({ ...request, headers: { ...request.headers, 'a2a-version': '99.0' } });
      return expectRefusal(() => agent.send({}, { alter }), ['VERSION_NOT_SUPPORTED']);
    },
  },
  {
    spec: '§9.5',
    requirement: 'a message without parts is refused',
    run: (agent) => expectRefusal(() => agent.send({ parts: [] }), ['INVALID_PARAMS']),
  },
  {
    spec: '§9.5',
    requirement: 'a message without an id is refused',
    run: (agent) => expectRefusal(() => agent.send({ messageId: '' }), ['INVALID_PARAMS']),
  },
  {
    spec: '§9.5',
    requirement: 'a body that is not JSON is refused',
    run: (agent) => {
      const alter = (request: RawRequest) => ({ ...request, body: '{"message' });
      return expectRefusal(() => agent.send({}, { alter }), ['PARSE_ERROR', 'INVALID_REQUEST', 'INVALID_PARAMS']);
    },
  },
  jsonRpcCheck('an unknown method is MethodNotFound', (agent) =>
    expectRefusal(() => agent.send({}, { alter: withMembers({ method: 'ParleyConformance' }) }), ['METHOD_NOT_FOUND']),
  ),
  jsonRpcCheck('another version of JSON-RPC is InvalidRequest', (agent) =>
    expectRefusal(() => agent.send({}, { alter: withMembers({ jsonrpc: '1.0' }) }), ['INVALID_REQUEST']),
  ),
  jsonRpcCheck('an answer has the id of its request', async (agent) => {
    const { body } = await onePage(agent, withMembers({ id: 'parley-7' }));
    return memberOf(body, 'id') === 'parley-7' ? pass('parley-7') : fail(`the id is ${memberOf(body, 'id')}`);
  }),
  {
    spec: '§5.4',
    requirement: 'TaskNotFound has the code of the binding',
    run: async (agent) => {
      const { isJsonRpc } = agent.wire;
      const { status, body } = await unknownTask(agent);
      const code = isJsonRpc ? memberOf(memberOf(body, 'error'), 'code') : status;
      const expected = isJsonRpc ? -32001 : 404;
      return code === expected ? pass(String(code)) : fail(`${code} instead of ${expected}`);
    },
  },
  {
    spec: '§3.3.2',
    requirement: 'an error names its reason and the domain of the protocol',
    run: async (agent) => {
      const error = memberOf((await unknownTask(agent)).body, 'error');
      const details = itemsOf(memberOf(error, agent.wire.isJsonRpc ? 'data' : 'details'));
      const info = details.find((one) => memberOf(one, 'reason') !== undefined);
      const [reason, domain] = [memberOf(info, 'reason'), memberOf(info, 'domain')];
      const isRight = reason === 'TASK_NOT_FOUND' && domain === 'a2a-protocol.org';
      return isRight ? pass(`${reason} of ${domain}`) : fail(`reason ${reason}, domain ${domain}`);
    },
  },
  {
    spec: '§9.1',
    requirement: 'the media type of answers is JSON',
    run: async (agent) => {
      const { contentType } = await onePage(agent);
      return /^application\/(?:a2a\+)?json\b/.test(contentType) ? pass(contentType) : fail(contentType || 'no type');
    },
  },
  {
    spec: '§3.1.1',
    requirement: 'the answer to SendMessage follows the schema',
    run: async (agent) => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
      return schemaFinding(SEND_MESSAGE_RESPONSE, await agent.call('SendMessage', { message }));
    },
  },
  {
    spec: '§3.1.4',
    requirement: 'the answer to ListTasks follows the schema',
    run: async (agent) => schemaFinding(LIST_TASKS_RESPONSE, await agent.call('ListTasks', { pageSize: 1 })),
  },
  {
    spec: '§3.1.11',
    requirement: 'the extended card is given to authorized callers, if the card offers one',
    run: async (agent) => {
      if (!agent.capabilities.extendedAgentCard) return skip('the card offers none');
      try {
        const card = await agent.call('GetExtendedAgentCard', {});
        const name = memberOf(card, 'name');
        return typeof name === 'string' ? pass(name) : fail('the answer is not a card');
      } catch (error) {
        const reasons = ['UNAUTHENTICATED', 'PERMISSION_DENIED', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'];
        if (error instanceof AgentRefusal && reasons.includes(error.reason)) return pass(error.reason);
        throw error;
      }
    },
  },
  {
    spec: '§3.3.4',
    requirement: 'SendStreamingMessage is UnsupportedOperation if the card does not offer streaming',
    run: async (agent) => {
      if (agent.capabilities.streaming) return skip('the card offers streaming');
      const call = async () => {
        for await (const _ of await agent.stream({})) break;
      };
      return expectRefusal(call, ['UNSUPPORTED_OPERATION']);
    },
  },
];

function jsonRpcCheck(requirement: string, run: Check['run']): Check {
  return {
    spec: '§9.5',
    requirement,
    run: async (agent, seen) => (agent.wire.isJsonRpc ? run(agent, seen) : skip('only for JSON-RPC')),
  };
}

/** Changes members of the JSON-RPC envelope. */
function withMembers(members: object): (request: RawRequest) => RawRequest {
  return (request) => ({ ...request, body: JSON.stringify({ ...JSON.parse(request.body ?? '{}'), ...members }) });
}

function onePage({ wire, signal }: TestedAgent, alter?: (request: RawRequest) => RawRequest): Promise<RawAnswer> {
  const params = { pageSize: 1 };
  return wire.raw({ operation: 'ListTasks', params, signal, ...(alter !== undefined && { alter }) });
}

function unknownTask({ wire, signal }: TestedAgent): Promise<RawAnswer> {
  return wire.raw({ operation: 'GetTask', params: { id: UNKNOWN_TASK }, signal });
}

function schemaFinding(shape: Shape, value: unknown): Finding {
  const [first] = problemsIn(value, shape);
  return first === undefined ? pass('no fault') : fail(`${first.field} ${first.description}`);
}
