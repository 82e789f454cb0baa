import { randomUUID } from 'node:crypto';
import { AgentCard, SendMessageRequest } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { connect } from 'parley-a2a/client';
import { median } from '../report/summary.js';
import { ChildProgram } from '../run/child-program.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import { CHUNKS, QUESTION } from '../workloads.js';
import type { Measured } from './probed-server.js';

/** What a client is asked for again and again: one answer, or a stream, whose events count. */
export type ClientWork = 'call' | 'stream';

/** One way to call an agent: resolves with how many answers or events it has had. */
type Caller = () => Promise<number>;

const ROUNDS = 120;
const WARM_UP_ROUNDS = 25;
const BATCH: { readonly [Work in ClientWork]: number } = { call: 80, stream: 6 };
const METHODS: { readonly [Work in ClientWork]: string } = { call: 'SendMessage', stream: 'SendStreamingMessage' };
/** The task, WORKING and COMPLETED stand around the chunks. */
const EVENTS = CHUNKS + 3;

/**
 * What a client costs beside the sockets: CPU time per answer or event against `fetch` with nothing but JSON around it, and the same of the
 * official client. All three take turns, one request at a time, against a server whose answers are fixed.
 */
export async function measureClientCost(work: ClientWork, core: number | undefined): Promise<Measured> {
  await using server = new ChildProgram<SubjectMessage>({ program: 'subjects/ceiling', args: [work], core });
  const url = `http://127.0.0.1:${(await server.next('ready')).port}/`;
  const callers = { raw: rawCaller(url, work), ours: await ourCaller(url, work), peer: await peerCaller(url, work) };
  const batches: { readonly [Name in keyof typeof callers]: Cost[] } = { raw: [], ours: [], peer: [] };
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const name of ['raw', 'ours', 'peer'] as const) {
      const batch = await measured(callers[name], BATCH[work]);
      if (round >= 0) batches[name].push(batch);
    }
  }
  const [raw, ours, peer] = [middle(batches.raw), middle(batches.ours), middle(batches.peer)];
  const share = (ours.cpu - raw.cpu) / (peer.cpu - raw.cpu);
  const told = [raw, ours, peer].map(({ cpu, time }) => `${cpu.toFixed(1)} (${time.toFixed(1)})`).join(', ');
  const detail = `µs of CPU (of time): ${told} of fetch, ours, the official client; ${share.toFixed(2)} of its overhead`;
  return { value: ours.cpu / raw.cpu, detail };
}

/** Microseconds of CPU time and of time for one answer or event. */
interface Cost {
  readonly cpu: number;
  readonly time: number;
}

/** The batch in the middle: what else the machine does falls on some of them only. */
function middle(batches: readonly Cost[]): Cost {
  return {
    cpu: median(batches.map(({ cpu }) => cpu)) ?? Number.NaN,
    time: median(batches.map(({ time }) => time)) ?? Number.NaN,
  };
}

async function measured(caller: Caller, times: number): Promise<Cost> {
  const began = performance.now();
  const before = process.cpuUsage();
  let count = 0;
  for (let time = 0; time < times; time++) count += await caller();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / count, time: ((performance.now() - began) * 1000) / count };
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
  if (work === 'call') return async () => ('message' in (await client.sendMessage(input())) ? 1 : 0);
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
