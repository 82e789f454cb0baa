import { A2AError } from 'parley-a2a/client';
import { type Check, type CheckedAgent, UNKNOWN_TASK } from './checks.js';
import { type Finding, fail, pass, refused, skipped } from './finding.js';
import type { Alteration, LastAnswer } from './wire-tap.js';

/** What can be seen of any agent: on the wire, and by what its card offers. */
export const WIRE_CHECKS: readonly Check[] = [
  {
    spec: '§3.6.2',
    requirement: 'a version that the interface does not offer is VersionNotSupported',
    run: ({ client, signal }) => {
      const headers = { 'a2a-version': '99.0' };
      return refused(() => client.sendMessage('Hello', { signal, headers }), ['VERSION_NOT_SUPPORTED']);
    },
  },
  {
    spec: '§9.5',
    requirement: 'a message without parts is refused',
    run: ({ client, signal }) =>
      refused(() => client.sendMessage({ message: { parts: [] } }, { signal }), ['INVALID_PARAMS']),
  },
  {
    spec: '§9.5',
    requirement: 'a message without an id is refused',
    run: ({ client, signal }) =>
      refused(
        () => client.sendMessage({ message: { messageId: '', parts: [{ text: 'Hello' }] } }, { signal }),
        ['INVALID_PARAMS'],
      ),
  },
  {
    spec: '§9.5',
    requirement: 'a body that is no JSON is refused',
    run: (agent) =>
      refusedAltered(agent, {
        alter: withBody(() => '{"message'),
        codes: ['PARSE_ERROR', 'INVALID_REQUEST', 'INVALID_PARAMS'],
      }),
  },
  jsonRpcCheck('an unknown method is MethodNotFound', (agent) =>
    refusedAltered(agent, { alter: withMembers({ method: 'ParleyConformance' }), codes: ['METHOD_NOT_FOUND'] }),
  ),
  jsonRpcCheck('another version of JSON-RPC is InvalidRequest', (agent) =>
    refusedAltered(agent, { alter: withMembers({ jsonrpc: '1.0' }), codes: ['INVALID_REQUEST'] }),
  ),
  jsonRpcCheck('an answer has the id of its request', async ({ client, wire, signal }) => {
    wire.alterNext(withMembers({ id: 'parley-7' }));
    await client.listTasks({ pageSize: 1 }, { signal });
    const { body } = await wire.last();
    return memberOf(body, 'id') === 'parley-7' ? pass('parley-7') : fail(`the id is ${memberOf(body, 'id')}`);
  }),
  {
    spec: '§5.4',
    requirement: 'TaskNotFound has the code of the binding',
    run: async (agent) => {
      const { status, body } = await unknownTask(agent);
      const code = isJsonRpc(agent) ? memberOf(memberOf(body, 'error'), 'code') : status;
      const expected = isJsonRpc(agent) ? -32001 : 404;
      return code === expected ? pass(String(code)) : fail(`${code} instead of ${expected}`);
    },
  },
  {
    spec: '§3.3.2',
    requirement: 'an error names its reason and the domain of the protocol',
    run: async (agent) => {
      const error = memberOf((await unknownTask(agent)).body, 'error');
      const details = memberOf(error, isJsonRpc(agent) ? 'data' : 'details');
      const infos = Array.isArray(details) ? details : [];
      const info: unknown = infos.find((one) => memberOf(one, 'reason') !== undefined);
      const [reason, domain] = [memberOf(info, 'reason'), memberOf(info, 'domain')];
      const isRight = reason === 'TASK_NOT_FOUND' && domain === 'a2a-protocol.org';
      return isRight ? pass(`${reason} of ${domain}`) : fail(`reason ${reason}, domain ${domain}`);
    },
  },
  {
    spec: '§9.1',
    requirement: 'answers are JSON by their media type',
    run: async ({ client, wire, signal }) => {
      await client.listTasks({ pageSize: 1 }, { signal });
      const { contentType } = await wire.last();
      return /^application\/(?:a2a\+)?json\b/.test(contentType) ? pass(contentType) : fail(contentType || 'no type');
    },
  },
  {
    spec: '§3.1.1',
    requirement: 'the answer to SendMessage follows the schema',
    run: async (agent) => {
      await agent.client.sendMessage('Hello', { signal: agent.signal });
      return schemaFinding('SendMessageResponse', agent);
    },
  },
  {
    spec: '§3.1.4',
    requirement: 'the answer to ListTasks follows the schema',
    run: async (agent) => {
      await agent.client.listTasks({ pageSize: 1 }, { signal: agent.signal });
      return schemaFinding('ListTasksResponse', agent);
    },
  },
  {
    spec: '§3.1.11',
    requirement: 'the extended card is given to those who may see it, where the card offers one',
    run: async ({ card, client, signal }) => {
      if (card.capabilities.extendedAgentCard !== true) return skipped('the card offers none');
      try {
        const { name } = await client.getExtendedAgentCard({ signal });
        return pass(name);
      } catch (error) {
        const codes = ['UNAUTHENTICATED', 'PERMISSION_DENIED', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'];
        if (error instanceof A2AError && codes.includes(error.code)) return pass(error.code);
        throw error;
      }
    },
  },
  {
    spec: '§3.3.4',
    requirement: 'SendStreamingMessage is UnsupportedOperation where the card does not offer streams',
    run: async ({ card, pretending, signal }) => {
      if (card.capabilities.streaming === true) return skipped('the card offers streaming');
      const client = await pretending({ ...card.capabilities, streaming: true });
      const call = async () => {
        for await (const _ of client.sendStreamingMessage('Hello', { signal })) break;
      };
      return refused(call, ['UNSUPPORTED_OPERATION']);
    },
  },
];

function jsonRpcCheck(requirement: string, run: Check['run']): Check {
  return {
    spec: '§9.5',
    requirement,
    run: async (agent) => (isJsonRpc(agent) ? run(agent) : skipped('only of JSON-RPC')),
  };
}

function isJsonRpc({ client }: CheckedAgent): boolean {
  return client.agentInterface.protocolBinding === 'JSONRPC';
}

/** Whether a message that was altered on its way out is refused. */
async function refusedAltered(
  { client, wire, signal }: CheckedAgent,
  { alter, codes }: { readonly alter: Alteration; readonly codes: Parameters<typeof refused>[1] },
): Promise<Finding> {
  wire.alterNext(alter);
  return refused(() => client.sendMessage('Hello', { signal }), codes);
}

function withBody(change: (body: string) => string): Alteration {
  return ({ url, init }) => ({ url, init: { ...init, body: change(String(init.body)) } });
}

function withMembers(members: object): Alteration {
  return withBody((body) => JSON.stringify({ ...JSON.parse(body), ...members }));
}

/** What comes for a task that is not there. */
async function unknownTask({ client, wire, signal }: CheckedAgent): Promise<LastAnswer> {
  await client.getTask(UNKNOWN_TASK, { signal }).catch(() => undefined);
  return wire.last();
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

async function schemaFinding(type: 'SendMessageResponse' | 'ListTasksResponse', agent: CheckedAgent): Promise<Finding> {
  const { violationsOf } = await import('parley-a2a/schema');
  const { body } = await agent.wire.last();
  const [first] = violationsOf(type, isJsonRpc(agent) ? memberOf(body, 'result') : body);
  return first === undefined ? pass('nothing is wrong with it') : fail(`${first.field} ${first.description}`);
}
