import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClientCodec } from '../../packages/parley/src/codec/client-codec.js';
import { decodeAgentCard } from '../../packages/parley/src/codec/client-codecs.js';
import { clientV0_3HttpJson, clientV0_3JsonRpc } from '../../packages/parley/src/codec/v0_3/client-codec.js';
import { v0_3HttpJson, v0_3JsonRpc } from '../../packages/parley/src/codec/v0_3/wire-codec.js';
import type { WireCodec } from '../../packages/parley/src/codec/wire-codec.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import type { TaskPushNotificationConfig } from '../../packages/parley/src/model/push-notification-config.js';
import type { SendMessageRequest } from '../../packages/parley/src/model/send-message-request.js';
import type { StreamResponse } from '../../packages/parley/src/model/stream-response.js';
import { isValid } from '../../packages/parley/src/model/validation.js';
import { arbitraryJson, arbitraryOf } from './arbitrary-model.js';

interface Pair {
  readonly name: string;
  readonly server: WireCodec;
  readonly client: ClientCodec;
  /** True if messages keep the tasks that they refer to. */
  readonly references: boolean;
}

const PAIRS: readonly Pair[] = [
  { name: 'JSON-RPC', server: v0_3JsonRpc, client: clientV0_3JsonRpc, references: true },
  { name: 'HTTP+JSON', server: v0_3HttpJson, client: clientV0_3HttpJson, references: false },
];
const RUNS = { numRuns: 200 };

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const over = (value: unknown): never => JSON.parse(JSON.stringify(value)) as never;

/** The marker is ours: a value that has it by itself is not told from one that was marked. */
const isUnmarked = (value: unknown): boolean => !JSON.stringify(value).includes('data_part_compat');

/**
 * The value after a conversion to 0.3 and back (docs/versions.md). These members are lost, in all parts and messages.
 */
function keepConvertible(value: unknown, references: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => keepConvertible(item, references));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (name === 'referenceTaskIds' && !references) return [];
    if (name === 'parts') return [[name, (member as Json[]).map(keptPart)]];
    return [[name, FREE.has(name) ? member : keepConvertible(member, references)]];
  });
  return Object.fromEntries(entries);
}

const FREE = new Set(['metadata', 'params', 'header', 'data']);

function keptPart({ filename, mediaType, metadata, ...content }: Json): Json {
  const isFile = 'raw' in content || 'url' in content;
  const isWrapped = 'data' in content && !isObject(content.data);
  // The marker of a wrapped value makes metadata, and takes empty ones with it when it goes.
  const empty = isObject(metadata) && Object.keys(metadata).length === 0;
  return {
    ...content,
    ...(metadata !== undefined && !(isWrapped && empty) && { metadata }),
    // An empty text is as good as none.
    ...(isFile && filename !== undefined && filename !== '' && { filename }),
    ...(isFile && mediaType !== undefined && mediaType !== '' && { mediaType }),
  };
}

describe.each(PAIRS)(
  'v0.3 over $name: what goes there and comes back is the same, but for what is known to be lost',
  (pair) => {
    const { server, client, references } = pair;

    test('requests to send', () => {
      fc.assert(
        fc.property(arbitraryOf('SendMessageRequest').filter(isUnmarked), (value) => {
          const { tenant: _, message, configuration, metadata } = value as SendMessageRequest;
          const read = server.decode('sendMessage', over(client.encodeRequest('sendMessage', value as never)));
          const { taskPushNotificationConfig: webhook, ...rest } = configuration ?? {};
          const { tenant: __, taskId: ___, ...config } = webhook ?? { url: '' };
          expect(read).toEqual(
            over({
              message: keepConvertible(message, references),
              configuration: {
                acceptedOutputModes: [],
                returnImmediately: false,
                ...rest,
                ...(webhook && { taskPushNotificationConfig: webhookOf(config) }),
              },
              metadata,
            }),
          );
        }),
        RUNS,
      );
    });

    test('events', () => {
      fc.assert(
        fc.property(arbitraryOf('StreamResponse').filter(isUnmarked), (value) => {
          const written = JSON.parse(server.encodeEvent({ event: value as StreamResponse }));
          expect(over(client.decodeEvent(written))).toEqual(over(keepConvertible(value, references)));
        }),
        RUNS,
      );
    });

    test('tasks', () => {
      fc.assert(
        fc.property(arbitraryOf('Task').filter(isUnmarked), (value) => {
          const written = JSON.parse(server.encode('getTask', value as never));
          expect(over(client.decodeResponse('getTask', written))).toEqual(over(keepConvertible(value, references)));
        }),
        RUNS,
      );
    });

    test('configurations of webhooks', () => {
      fc.assert(
        fc.property(arbitraryOf('CreateTaskPushNotificationConfigRequest'), (value) => {
          // In a resource name a slash would be the end of an id; the paths of routes are encoded.
          const { tenant: _, ...config } = value as TaskPushNotificationConfig;
          fc.pre(!`${config.taskId}${config.id ?? ''}`.includes('/'));
          const operation = 'createTaskPushNotificationConfig';
          const read = server.decode(operation, over(client.encodeRequest(operation, value as never)));
          expect(read).toEqual(over(webhookOf(config)));
          const written = JSON.parse(server.encode(operation, read));
          expect(over(client.decodeResponse(operation, written))).toEqual(over(webhookOf(config)));
        }),
        RUNS,
      );
    });

    test('cards, which a client can use', async () => {
      await fc.assert(
        fc.asyncProperty(arbitraryOf('AgentCard'), async (value) => {
          const card = value as AgentCard;
          const read = await decodeAgentCard(JSON.parse(server.encode('getExtendedAgentCard', card)));
          const { name, description, version, skills, defaultInputModes, defaultOutputModes, provider } = card;
          expect(over(read)).toMatchObject(
            over({ name, description, version, defaultInputModes, defaultOutputModes, ...(provider && { provider }) }),
          );
          expect(read.skills.map(({ id }) => id)).toEqual(skills.map(({ id }) => id));
        }),
        RUNS,
      );
    });

    test('whatever else comes is read as something the model allows, or refused with the fields named', () => {
      fc.assert(
        fc.property(arbitraryJson, (value) => {
          for (const operation of ['sendMessage', 'getTask', 'createTaskPushNotificationConfig'] as const) {
            const type = (
              {
                sendMessage: 'SendMessageRequest',
                getTask: 'GetTaskRequest',
                createTaskPushNotificationConfig: 'CreateTaskPushNotificationConfigRequest',
              } as const
            )[operation];
            let read: unknown;
            try {
              read = server.decode(operation, structuredClone(value));
            } catch (error) {
              expect(error).toMatchObject({ code: 'INVALID_PARAMS' });
              continue;
            }
            expect(isValid(type, read)).toBe(true);
          }
        }),
        RUNS,
      );
    });
  },
);

function webhookOf({ token, ...config }: Omit<TaskPushNotificationConfig, 'tenant'>): Json {
  const { credentials, ...how } = config.authentication ?? { scheme: '' };
  return {
    ...config,
    id: config.id ?? 'default',
    ...(token !== undefined && { token }),
    ...(config.authentication && { authentication: { ...how, ...(credentials && { credentials }) } }),
  };
}
