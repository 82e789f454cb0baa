import { randomUUID } from 'node:crypto';
import { AgentCard, SendMessageRequest } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { connect } from 'parley-a2a/client';
import { ChildProgram } from '../run/child-program.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import { CHUNKS, QUESTION } from '../workloads.js';
import type { Measured } from './probed-server.js';

/** The repeated work of a client: one answer, or a stream, measured by its events. */
export type ClientWork = 'call' | 'stream';

/** One way to call an agent: resolves with how many answers or events it has had. */
type Caller = () => Promise<number>;

const ROUNDS = 1_200;
const WARM_UP_ROUNDS = 300;
/** Short batches, so that other work of the machine slows all three equally. */
const BATCH: { readonly [Work in ClientWork]: number } = { call: 10, stream: 2 };
const METHODS: { readonly [Work in ClientWork]: string } = { call: 'SendMessage', stream: 'SendStreamingMessage' };
/** The task, WORKING and COMPLETED stand around the chunks. */
const EVENTS = CHUNKS + 3;
const NAMES = ['raw', 'ours', 'peer'] as const;

/** CPU time of an answer or an event, in microseconds. */
export interface ClientCost {
  /** With `fetch` and nothing but JSON around it. */
  readonly raw: number;
  /** The additional time of our client and of the official one. */
  readonly ours: number;
  readonly peer: number;
}

/** The cost of our client as a multiple of bare `fetch`. */
export function timesFetch({ raw, ours, peer }: ClientCost): Measured {
  return { value: (raw + ours) / raw, detail: told({ raw, ours, peer }) };
}

/** The additional cost of our client as a share of that of the official one. */
export function shareOfPeer({ raw, ours, peer }: ClientCost): Measured {
  return { value: ours / peer, detail: told({ raw, ours, peer }) };
}

function told({ raw, ours, peer }: ClientCost): string {
  return `${raw.toFixed(1)} µs of CPU by fetch; ours adds ${ours.toFixed(2)}, the official client ${peer.toFixed(2)}`;
}

/**
 * Measures the cost of a client beside its sockets. All three clients take turns in random order, one request at a
 * time, against fixed answers. The cost of a client is compared with that of `fetch` in the same round.
 */
export async function measureClientCost(work: ClientWork, core: number | undefined): Promise<ClientCost> {
  await using server = new ChildProgram<SubjectMessage>({ program: 'subjects/ceiling', args: [work], core });
  const url = `http://127.0.0.1:${(await server.next('ready')).port}/`;
  const callers = { raw: rawCaller(url, work), ours: await ourCaller(url, work), peer: await peerCaller(url, work) };
  const costs = { raw: [] as number[], ours: [] as number[], peer: [] as number[] };
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const cost = { raw: 0, ours: 0, peer: 0 };
    for (const name of shuffled(NAMES)) cost[name] = await cpuOf(callers[name], BATCH[work]);
    if (round < 0) continue;
    costs.raw.push(cost.raw);
    costs.ours.push(cost.ours - cost.raw);
    costs.peer.push(cost.peer - cost.raw);
  }
  return { raw: middle(costs.raw), ours: middle(costs.ours), peer: middle(costs.peer) };
}

/** Returns the mean without the highest and the lowest fifth, because other work slows only some rounds. */
function middle(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const left = sorted.slice(Math.floor(sorted.length / 5), Math.ceil((sorted.length * 4) / 5));
  return left.reduce((sum, value) => sum + value, 0) / left.length;
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

async function cpuOf(caller: Caller, times: number): Promise<number> {
  const before = process.cpuUsage();
  let count = 0;
  for (let time = 0; time < times; time++) count += await caller();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

/** A message as each of the three sends it. */
function message(): { readonly messageId: string; readonly role: 'ROLE_USER'; readonly parts: [{ text: string }] } {
  return { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: QUESTION }] };
}

function rawCaller(url: string, work: ClientWork): Caller {
  const accept = work === 'call' ? 'application/json' : 'text/event-stream';
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', accept };
  const send = (id: number) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: METHODS[work], params: { message: message() } });
    return fetch(url, { method: 'POST', headers, body });
  };
  let id = 0;
  if (work === 'stream') return async () => countEvents(await send(++id));
  return async () => (resultOf(await (await send(++id)).text()) === undefined ? 0 : 1);
}

async function countEvents(response: Response): Promise<number> {
  const decoder = new TextDecoder();
  let rest = '';
  let events = 0;
  for await (const chunk of response.body ?? []) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) if (resultOf(frame.slice(frame.indexOf('data: ') + 6)) !== undefined) events++;
  }
  return whole(events);
}

function resultOf(text: string): unknown {
  return (JSON.parse(text) as { readonly result?: unknown }).result;
}

/** The card of the server, which has none itself. */
function cardOf(url: string) {
  return {
    name: 'Ceiling',
    description: 'Fixed answers',
    version: '1.0.0',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}

async function ourCaller(url: string, work: ClientWork): Promise<Caller> {
  const client = await connect(cardOf(url));
  const input = () => ({ message: message() });
  if (work === 'call') return async () => ((await client.sendMessage(input())).message !== undefined ? 1 : 0);
  return async () => whole(await length(client.sendStreamingMessage(input())));
}

async function peerCaller(url: string, work: ClientWork): Promise<Caller> {
  const client = await new ClientFactory().createFromAgentCard(AgentCard.fromJSON(cardOf(url)));
  const request = () => SendMessageRequest.fromJSON({ message: message() });
  if (work === 'call') return async () => ('messageId' in (await client.sendMessage(request())) ? 1 : 0);
  return async () => whole(await length(client.sendMessageStream(request())));
}

async function length(events: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of events) count++;
  return count;
}

function whole(events: number): number {
  if (events !== EVENTS) throw new Error(`${events} events instead of ${EVENTS}`);
  return events;
}
