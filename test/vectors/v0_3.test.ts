import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ClientCodec } from '../../packages/parley/src/codec/client-codec.js';
import { decodeAgentCard } from '../../packages/parley/src/codec/client-codecs.js';
import { PROTOCOL_VERSIONS, type ProtocolVersionName } from '../../packages/parley/src/codec/protocol-versions.js';
import { clientV0_3HttpJson, clientV0_3JsonRpc } from '../../packages/parley/src/codec/v0_3/client-codec.js';
import { readSecurityScheme, writeSecurityScheme } from '../../packages/parley/src/codec/v0_3/security-scheme.js';
import type { WireCodec, WireForm } from '../../packages/parley/src/codec/wire-codec.js';
import { A2AError, type ErrorCode } from '../../packages/parley/src/errors/a2a-error.js';
import { InvalidParamsError } from '../../packages/parley/src/errors/standard-errors.js';
import {
  OPERATIONS,
  type OperationName,
  type UnaryOperationName,
} from '../../packages/parley/src/operations/operations.js';
import { BoundAgent } from '../../packages/parley/test/bound-agent.js';
import { jsonOf } from '../../packages/parley/test/exchange-request.js';

/**
 * One line of a vector file. Requests: `input` with its meaning (`accept`) or its faulty fields (`refuse`), or
 * `request` of the model with its `wire`. Other values: a value of the model, named by its type, its `wire`, and `back`
 * if reading it again gives another value.
 */
interface Vector {
  readonly name: string;
  readonly over: 'JSONRPC' | 'HTTP+JSON';
  readonly version?: ProtocolVersionName;
  readonly form?: WireForm;
  readonly operation?: OperationName;
  readonly input?: unknown;
  readonly accept?: unknown;
  readonly refuse?: readonly string[];
  readonly request?: never;
  readonly wire?: unknown;
  readonly back?: unknown;
  readonly last?: boolean;
  readonly answer?: unknown;
  readonly event?: never;
  readonly part?: never;
  readonly message?: never;
  readonly artifact?: never;
  readonly task?: never;
  readonly card?: never;
}

function read<T = Vector>(file: string): readonly T[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'v0_3', file), 'utf8'));
}

function codecOf({ over, version = '0.3' }: Vector): WireCodec {
  return PROTOCOL_VERSIONS[version][over === 'JSONRPC' ? 'jsonRpc' : 'httpJson'];
}

function clientOf({ over }: Vector): ClientCodec {
  return over === 'JSONRPC' ? clientV0_3JsonRpc : clientV0_3HttpJson;
}

const addTitles = (vectors: readonly Vector[]) =>
  vectors.map((vector) => ({ ...vector, title: `${vector.name}, ${vector.over}` }));
/** As it would be after a journey: without members that are `undefined`. */
const roundTrip = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

const STATUS = { state: 'TASK_STATE_WORKING' };

/** Types that only occur inside of others, as the answer that shows them. */
const AROUND = {
  part: {
    model: (part: unknown) => ({
      artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [part] } },
    }),
    inside: (value: never) => at(value, 'artifact', 'parts', 0),
    back: (event: never) => at(event, 'artifactUpdate', 'artifact', 'parts', 0),
  },
  artifact: {
    model: (artifact: unknown) => ({ artifactUpdate: { taskId: 't', contextId: 'c', artifact } }),
    inside: (value: never) => at(value, 'artifact'),
    back: (event: never) => at(event, 'artifactUpdate', 'artifact'),
  },
  message: {
    model: (message: unknown) => ({ statusUpdate: { taskId: 't', contextId: 'c', status: { ...STATUS, message } } }),
    inside: (value: never) => at(value, 'status', 'message'),
    back: (event: never) => at(event, 'statusUpdate', 'status', 'message'),
  },
  task: {
    model: (task: unknown) => ({ task }),
    inside: (value: never) => value,
    back: (event: never) => at(event, 'task'),
  },
} as const;

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce((inner, name) => (inner as Record<string | number, unknown>)[name], value);
}

describe.each(Object.entries(AROUND))('v0.3 wire, %s', (type, { model, inside, back }) => {
  test.each(addTitles(read(`${type}.json`)))('$title', (vector) => {
    const value = vector[type as 'part'];
    const written = JSON.parse(codecOf(vector).encodeEvent({ event: model(value) as never }));
    const bare = vector.over === 'JSONRPC' ? written : Object.values(written)[0];
    expect(inside(bare as never)).toEqual(vector.wire);
    const reread = clientOf(vector).decodeEvent(written) as never;
    expect(roundTrip(back(reread))).toEqual(vector.back ?? value);
  });
});

describe('v0.3 wire, stream-response', () => {
  test.each(addTitles(read('stream-response.json')))('$title', (vector) => {
    const { event, last = false } = vector;
    expect(JSON.parse(codecOf(vector).encodeEvent({ event: event as never, last }))).toEqual(vector.wire);
    expect(roundTrip(clientOf(vector).decodeEvent(structuredClone(vector.wire)))).toEqual(event);
  });
});

const requests = ['push-notification-config', 'send-message-request', 'task-requests'].flatMap((file) =>
  read(`${file}.json`).map((vector) => ({ ...vector, title: `${file}: ${vector.name}, ${vector.over}` })),
);

describe('v0.3 wire, requests', () => {
  test.each(requests.filter(({ accept }) => accept !== undefined))('accepts: $title', (vector) => {
    const { operation = 'getTask', input, form, accept } = vector;
    expect(codecOf(vector).decode(operation, structuredClone(input), form)).toEqual(accept);
  });

  test.each(requests.filter(({ refuse }) => refuse !== undefined))('refuses: $title', (vector) => {
    const { operation = 'getTask', input, form, refuse = [] } = vector;
    let fields: string[] = [];
    try {
      codecOf(vector).decode(operation, structuredClone(input), form);
    } catch (error) {
      if (!(error instanceof InvalidParamsError)) throw error;
      fields = (error.details.violations ?? []).map(({ field }) => field);
    }
    expect(fields.sort()).toEqual([...refuse].sort());
  });

  test.each(requests.filter(({ request }) => request !== undefined))('sends: $title', (vector) => {
    const { operation = 'getTask', request, wire } = vector;
    expect(roundTrip(clientOf(vector).encodeRequest(operation, request as never))).toEqual(wire);
  });

  test.each(requests.filter(({ answer }) => answer !== undefined))('answers: $title', (vector) => {
    const { answer, wire } = vector;
    const operation = vector.operation as UnaryOperationName;
    expect(JSON.parse(codecOf(vector).encode(operation, (answer ?? undefined) as never))).toEqual(wire);
    const reread = clientOf(vector).decodeResponse(operation, structuredClone(wire));
    expect(roundTrip(reread)).toEqual(answer ?? undefined);
  });

  test('are there for every operation, accepted and refused', () => {
    for (const operation of Object.keys(OPERATIONS)) {
      const own = requests.filter((vector) => vector.operation === operation);
      const alone =
        operation === 'listTasks' || operation === 'sendStreamingMessage' || operation === 'getExtendedAgentCard';
      if (operation !== 'listTasks')
        expect(
          own.some(({ accept }) => accept !== undefined),
          operation,
        ).toBe(true);
      if (!alone)
        expect(
          own.some(({ refuse }) => refuse !== undefined),
          operation,
        ).toBe(true);
    }
  });
});

describe('v0.3 wire, agent-card', () => {
  test.each(addTitles(read('agent-card.json')))('$title', async (vector) => {
    const { card, wire, back = card } = vector;
    const codec = codecOf(vector);
    expect(JSON.parse(codec.encode('getExtendedAgentCard', card as never))).toEqual(wire);
    expect(roundTrip(await decodeAgentCard(wire))).toEqual(back);
  });
});

interface SchemeVector {
  readonly name: string;
  readonly scheme?: never;
  readonly wire: Record<string, unknown>;
  readonly back?: unknown;
}

describe('v0.3 wire, security-scheme', () => {
  test.each(read<SchemeVector>('security-scheme.json'))('$name', ({ scheme, wire, back = scheme }) => {
    if (scheme !== undefined) expect(roundTrip(writeSecurityScheme(scheme))).toEqual(wire);
    expect(readSecurityScheme(wire)).toEqual(back);
  });

  test('a device flow has no place', () => {
    const flows = {
      deviceCode: { deviceAuthorizationUrl: 'https://a.example', tokenUrl: 'https://t.example', scopes: {} },
    };
    expect(writeSecurityScheme({ oauth2SecurityScheme: { flows } })).toBeUndefined();
  });
});

interface ErrorVector {
  readonly name: string;
  readonly over: Vector['over'];
  readonly code: ErrorCode;
  readonly message: string;
  readonly status?: number;
  readonly wire: unknown;
}

describe('v0.3 wire, errors', () => {
  test.each(read<ErrorVector>('errors.json'))('$name, $over', async ({ over, code, message, status = 200, wire }) => {
    const { jsonRpc, httpJson } = PROTOCOL_VERSIONS['0.3'];
    const agent = new BoundAgent({ codecs: [over === 'JSONRPC' ? jsonRpc : httpJson], interfaces: [] });
    agent.handler.behaviours.getTask = () => {
      throw new A2AError(code, message);
    };
    const headers = { 'a2a-version': '' };
    const answer =
      over === 'JSONRPC'
        ? await agent.rpc('tasks/get', { id: 't' }, { headers })
        : await agent.call('GET /v1/tasks/t', { headers });
    expect(answer.status).toBe(status);
    const body = (await jsonOf(answer)) as { error?: unknown };
    expect(over === 'JSONRPC' ? body.error : body).toEqual(wire);
  });
});
