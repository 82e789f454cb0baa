import { randomUUID } from 'node:crypto';
import type { RequestLimits } from '../../../packages/parley/src/bindings/http/binding-context.js';
import type { Client } from '../../../packages/parley/src/client/client.js';
import { eventsOf, refusal } from './outcome.js';
import type { MatrixScenario } from './scenarios.js';
import { ENDLESS, TOO_LONG, VALUES } from './special-scenarios.js';
import type { AgentPath } from './world.js';

/** The limits of the agent at `/narrow`. */
export const NARROW: RequestLimits = { bodyBytes: 4_000, jsonDepth: 20, jsonItems: 200, parts: 8, idLength: 64 };
/** The most levels of `data` and `metadata`, by default. */
const LEVELS = 100;

type Said = Readonly<Record<string, unknown>>;

interface LimitRow {
  /** The request of a size. */
  readonly ofSize: (size: number) => Said;
  /** Sizes below and above the limit. Bindings count bytes and items of their own envelopes, so these are not close. */
  readonly sizes?: readonly [within: number, beyond: number];
}

/** Values of one level each, in lists and objects by turns. */
function nestValue(levels: number): unknown {
  if (levels === 0) return 'end';
  return levels % 3 === 0 ? [nestValue(levels - 1)] : { deeper: nestValue(levels - 1) };
}

/** One row for each limit of a request. */
const LIMITS: Readonly<Record<keyof RequestLimits, readonly LimitRow[]>> = {
  bodyBytes: [{ ofSize: (size) => ({ parts: [{ text: 'x'.repeat(size) }] }), sizes: [2_000, 8_000] }],
  jsonDepth: [
    { ofSize: (size) => ({ metadata: { own: nestValue(size - 1) } }) },
    { ofSize: (size) => ({ parts: [{ text: 'deep', metadata: { own: nestValue(size - 1) } }] }) },
  ],
  jsonItems: [
    { ofSize: (size) => ({ metadata: { own: new Array(size).fill(0) } }), sizes: [150, 300] },
    { ofSize: (size) => ({ metadata: { own: new Array(size / 2).fill([0]) } }), sizes: [150, 300] },
  ],
  parts: [{ ofSize: (size) => ({ parts: new Array(size).fill({ text: 'part' }) }) }],
  idLength: [
    { ofSize: (size) => ({ messageId: randomUUID().padEnd(size, 'x') }) },
    { ofSize: (size) => ({ contextId: randomUUID().padEnd(size, 'x') }) },
  ],
};

async function sendOwn(client: Client, own: Said): Promise<unknown> {
  const message = { messageId: randomUUID(), parts: [{ text: 'hi' }], ...own };
  const refused = await refusal(client.sendMessage({ message } as never));
  return 'result' in (refused as object) ? 'taken' : refused;
}

const CONFIGURED: readonly MatrixScenario[] = Object.entries(LIMITS).flatMap(([name, rows]) =>
  rows.map(({ ofSize, sizes }, at): MatrixScenario => {
    const limit = NARROW[name as keyof RequestLimits];
    const [within, beyond] = sizes ?? [limit, limit + 1];
    return {
      name: `requests within and beyond ${name} (${at})${name === 'bodyBytes' ? `: ${TOO_LONG}` : ''}`,
      async play(cell) {
        const client = await cell.client('/narrow');
        const outcome = {
          within: await sendOwn(client, ofSize(within)),
          beyond: await sendOwn(client, ofSize(beyond)),
        };
        // The client and its connection are as good as before.
        return { ...outcome, after: await sendOwn(client, {}) };
      },
    };
  }),
);

/** A message after its way to the agent and back, over every operation that shows it. */
async function mirrorMessage(client: Client, own: Said, { lists }: { readonly lists: boolean }): Promise<unknown> {
  const contextId = randomUUID();
  const message = { contextId, parts: [{ text: 'hi' }], ...own } as never;
  const events = await eventsOf(client.sendStreamingMessage({ message }));
  const answer = await client.sendMessage({ message });
  const task = answer.task !== undefined ? await client.getTask(answer.task.id) : undefined;
  const read = { events, answer, task };
  if (!lists) return read;
  const listed = await client.listTasks({ contextId, includeArtifacts: true });
  // The estimate of a database's time may go back by milliseconds, and the order of a list with it.
  return { ...read, listed: { ...listed, tasks: listed.tasks.toSorted((a, b) => b.id.localeCompare(a.id)) } };
}

const MIRROR: AgentPath = '/mirror';

const OF_THE_MODEL: readonly MatrixScenario[] = [
  {
    name: 'data and metadata of the most levels, there and back',
    differs: true,
    async play(cell) {
      const client = await cell.client(MIRROR);
      const part = { data: nestValue(LEVELS), metadata: { own: nestValue(LEVELS - 1) } };
      return mirrorMessage(
        client,
        { parts: [part], metadata: { own: nestValue(LEVELS - 1) } },
        { lists: cell.version === '1.0' },
      );
    },
  },
  {
    name: 'data and metadata of one level more',
    async play(cell) {
      const client = await cell.client(MIRROR);
      return [
        await sendOwn(client, { parts: [{ data: nestValue(LEVELS + 1) }] }),
        await sendOwn(client, { parts: [{ text: 'hi', metadata: { own: nestValue(LEVELS) } }] }),
        await sendOwn(client, { metadata: { own: nestValue(LEVELS) } }),
        await sendOwn(client, {}),
      ];
    },
  },
  {
    name: ENDLESS,
    async play(cell) {
      const client = await cell.client(MIRROR);
      const refused: unknown[] = [];
      for (const levels of [121, 200, 301, 1_000]) {
        const { code, metadata } = (await sendOwn(client, { parts: [{ data: nestValue(levels) }] })) as Said;
        refused.push({ code, metadata });
      }
      return [...refused, await sendOwn(client, {})];
    },
  },
  {
    name: VALUES,
    differs: true,
    async play(cell) {
      const client = await cell.client(MIRROR);
      const own = { toJSON: () => ({ at: new Date(1) }) };
      const data = {
        at: new Date(0),
        none: undefined,
        list: [undefined, Number.NaN, new Date(2), null],
        own,
        call: () => 1,
      };
      return mirrorMessage(client, { parts: [{ data }], metadata: { own: data } }, { lists: cell.version === '1.0' });
    },
  },
  {
    name: 'a message that comes twice, with and without empty members',
    differs: true,
    async play(cell) {
      const client = await cell.client('/owned', 'twice');
      const messageId = randomUUID();
      const bare = { messageId, parts: [{ raw: 'AA==' }] };
      const empty = { extensions: [], referenceTaskIds: [], metadata: {} };
      const full = { ...bare, ...empty, parts: [{ raw: 'AA', filename: '', mediaType: '', metadata: {} }] };
      const answers = [
        await refusal(client.sendMessage({ message: bare })),
        await refusal(client.sendMessage({ message: full })),
      ];
      const ids = answers.map((answer) => (answer as { result?: { task?: { id: string } } }).result?.task?.id);
      return {
        isOne: ids[0] !== undefined && ids[0] === ids[1],
        refused: answers.filter((one) => !('result' in (one as object))),
      };
    },
  },
  {
    name: 'file content in every form of base64, there and back',
    differs: true,
    async play(cell) {
      const client = await cell.client(MIRROR);
      const parts = ['+/+/', '-_-_', '-_8', '-_8=', 'AA', ''].map((raw) => ({ raw, mediaType: 'image/png' }));
      return mirrorMessage(client, { parts }, { lists: cell.version === '1.0' });
    },
  },
  {
    name: 'file content that is no base64',
    async play(cell) {
      const client = await cell.client(MIRROR);
      const refused: unknown[] = [];
      for (const raw of ['!!!!', 'A', 'AA=', 'A A=', 'AAAA\n', 'é', 'AA==AA==']) {
        const { code, violations } = (await sendOwn(client, { parts: [{ raw }] })) as Said;
        refused.push({ raw, code, count: (violations as readonly unknown[] | undefined)?.length });
      }
      return [...refused, await sendOwn(client, {})];
    },
  },
];

/** The limits of requests, at each limit below and above, and the forms of values that every binding takes. */
export const INPUT_LIMITS: readonly MatrixScenario[] = [...CONFIGURED, ...OF_THE_MODEL];
