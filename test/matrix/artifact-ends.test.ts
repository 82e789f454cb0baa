import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import {
  type AgentExecutor,
  type AgentHandlerOptions,
  createAgentHandler,
} from '../../packages/parley/src/exports/server.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const BASE = 'https://agents.example.com';
const HTTPX = 'python-httpx/0.28.1';

interface Update {
  readonly artifact: { readonly artifactId: string; readonly parts: readonly { readonly text?: string }[] };
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}
interface Event {
  readonly result?: Event;
  readonly artifactUpdate?: Update;
}

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
const old = { message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] } };
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

/** A streaming call of each binding and version. */
const WAYS = [
  ['JSON-RPC 1.0', '/a2a/jsonrpc', '1.0', rpc('SendStreamingMessage', { message })],
  ['JSON-RPC 0.3', '/a2a/jsonrpc', '0.3', rpc('message/stream', old)],
  ['HTTP+JSON 1.0', '/a2a/rest/message:stream', '1.0', { message }],
  [
    'HTTP+JSON 0.3',
    '/a2a/rest/v1/message:stream',
    '0.3',
    {
      message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'x' }] },
    },
  ],
] as const;

const pieces = async function* () {
  yield 'One ';
  yield 'two ';
  yield 'three';
};

async function updates(...call: Parameters<typeof startStream>): Promise<string[]> {
  const response = await startStream(...call);
  const events = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Event);
  return events.flatMap((event) => {
    const shown = event.result ?? event;
    const update = shown.artifactUpdate ?? ('artifact' in shown ? (shown as unknown as Update) : undefined);
    if (update === undefined) return [];
    const text = update.artifact.parts.map((part) => part.text).join('|');
    return [`${update.append === true ? '+' : ''}${update.lastChunk === true ? '!' : ''}${text}`];
  });
}

function startStream(
  [, path, version, body]: (typeof WAYS)[number],
  { userAgent = 'node', ...options }: { userAgent?: string } & Partial<AgentHandlerOptions> = {},
): Promise<Response> {
  const { fetch } = createAgentHandler({ agent: pieces, url: BASE, ...options } as AgentHandlerOptions);
  const headers = { 'content-type': 'application/json', 'a2a-version': version, 'user-agent': userAgent };
  return fetch(new Request(`${BASE}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
}

describe.each(WAYS.map((way) => ({ name: way[0], way })))('a stream over $name', ({ way }) => {
  const chunks = ['One ', '+two ', '+!three'];
  const whole = ['One ', '+two ', '!One two three'];

  it('ends an artifact with its last chunk', async () => {
    expect(await updates(way)).toEqual(chunks);
  });

  it('shows a chunk before the agent makes the next one, also the first of a new task', async () => {
    const texts = ['One ', 'two ', 'three'] as const;
    const seen = new Map(texts.map((text) => [text, Promise.withResolvers<void>()]));
    const agent: AgentExecutor = {
      async execute(_context, events) {
        const id = await events.artifact('One ');
        await seen.get('One ')?.promise;
        for (const text of ['two ', 'three'] as const) {
          await events.append(id, text);
          await seen.get(text)?.promise;
        }
        await events.complete();
      },
    };
    // This storage answers later than the agent makes its first chunk.
    const storage = await files.open(systemClock, { durability: 'process' });
    onTestFinished(() => storage.close());
    const { body } = await startStream(way, { agent, storage });
    let all = '';
    for await (const bytes of body ?? []) {
      all += Buffer.from(bytes).toString();
      for (const [text, { resolve }] of seen) if (all.includes(`"text":"${text}"`)) resolve();
    }
    expect(all).toContain('three');
  });

  it('ends it with the whole artifact for clients that show only the last update', async () => {
    expect(await updates(way, { userAgent: HTTPX })).toEqual(whole);
  });

  it('ends it as the agent chooses, and as the operator chooses before that', async () => {
    const agent = (artifactEnd: 'chunk' | 'whole') => ({
      artifactEnd,
      async execute(_context: unknown, events: { publish(event: object): unknown; complete(): unknown }) {
        for (const text of ['One ', 'two ', 'three']) {
          const artifact = { artifactId: 'a', parts: [{ text }] };
          await events.publish({ artifactUpdate: { artifact, append: text !== 'One ' } });
        }
        await events.complete();
      },
    });
    expect(await updates(way, { agent: agent('chunk'), userAgent: HTTPX })).toEqual(chunks);
    expect(await updates(way, { agent: agent('whole') })).toEqual(whole);
    expect(await updates(way, { agent: agent('whole'), artifactEnd: 'chunk', userAgent: HTTPX })).toEqual(chunks);
  });
});

it('refuses a form that does not exist', () => {
  expect(() => createAgentHandler({ agent: pieces, url: BASE, artifactEnd: 'last' as never })).toThrow(
    /artifactEnd: must be one of auto, chunk, whole/,
  );
});
