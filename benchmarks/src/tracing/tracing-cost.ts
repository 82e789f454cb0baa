import { type Attributes, context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type Sampler,
  SimpleSpanProcessor,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type AgentExecutor, createA2AServer, silentLogger } from 'parley-a2a';
import { serverTracing } from 'parley-a2a-otel';

/** CPU time of one call, in µs, and the ratios that docs/performance.md tells. */
export interface TracingCost {
  /** Without the option `tracing`. */
  readonly none: number;
  /** With the option, and without an SDK. */
  readonly off: number;
  /** With a sampler that drops all spans. */
  readonly dropped: number;
  /** With all spans recorded, and an exporter that does nothing. */
  readonly recorded: number;
  /** The SDK alone, as it makes the spans of one call. */
  readonly bare: number;
  readonly ratios: {
    readonly off: number;
    readonly dropped: number;
    /** The cost of the recorded spans, by that of the bare SDK. */
    readonly recorded: number;
  };
}

/** The size of a measurement. The work of a round is short, so that other programs disturb all subjects alike. */
export interface TracingCostOptions {
  readonly rounds: number;
  readonly callsPerRound: number;
}

const SUBJECTS = ['none', 'off', 'dropped', 'recorded', 'bare'] as const;
type Subject = (typeof SUBJECTS)[number];

const URL_OF_CALLS = 'http://127.0.0.1/a2a/jsonrpc';
const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

const agent: AgentExecutor = {
  async execute({ text }, events) {
    await events.artifact(`Echo: ${text}`);
    await events.complete();
  },
};

/** Measures the subjects in turn. Each figure is a median over all rounds, each ratio one of the ratios in a round. */
export async function measureTracing({ rounds, callsPerRound }: TracingCostOptions): Promise<TracingCost> {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const work = {
    none: serverCalls(undefined, false),
    off: serverCalls(undefined, true),
    dropped: serverCalls(new AlwaysOffSampler(), true),
    recorded: serverCalls(new AlwaysOnSampler(), true),
    bare: bareSpans(),
  };
  const measured: Record<Subject, number>[] = [];
  // The first rounds are for the compiler.
  const warmUp = Math.max(3, Math.ceil(rounds / 5));
  for (let round = -warmUp; round < rounds; round += 1) {
    const figures = { none: 0, off: 0, dropped: 0, recorded: 0, bare: 0 };
    const order = round % 2 === 0 ? SUBJECTS : [...SUBJECTS].reverse();
    for (const subject of order) figures[subject] = await cpuOf(work[subject], callsPerRound);
    if (round >= 0) measured.push(figures);
  }
  await Promise.all(Object.values(work).map(({ close }) => close()));
  context.disable();
  const of = (subject: Subject) => median(measured.map((figures) => figures[subject]));
  const ratio = (of: (figures: Record<Subject, number>) => number) => median(measured.map(of));
  return {
    none: of('none'),
    off: of('off'),
    dropped: of('dropped'),
    recorded: of('recorded'),
    bare: of('bare'),
    ratios: {
      off: ratio(({ off, none }) => off / none),
      dropped: ratio(({ dropped, none }) => dropped / none),
      recorded: ratio(({ recorded, none, bare }) => (recorded - none) / bare),
    },
  };
}

interface Work {
  run(): Promise<unknown> | unknown;
  close(): Promise<void>;
}

/** Calls of one server, through all of its layers but the socket. */
function serverCalls(sampler: Sampler | undefined, isTraced: boolean): Work {
  if (sampler !== undefined) trace.setGlobalTracerProvider(providerOf(sampler));
  const server = createA2AServer({
    agent,
    logger: silentLogger,
    ...(isTraced && { tracing: serverTracing() }),
  });
  trace.disable();
  let number = 0;
  return {
    run: async () => {
      number += 1;
      const message = { messageId: `m${number}`, role: 'ROLE_USER', parts: [{ text: 'hello' }] };
      const body = JSON.stringify({ jsonrpc: '2.0', id: number, method: 'SendMessage', params: { message } });
      const answer = await server.fetch(new Request(URL_OF_CALLS, { method: 'POST', headers: HEADERS, body }));
      const text = await answer.text();
      if (!text.includes('TASK_STATE_COMPLETED')) throw new Error(`A call failed: ${text}`);
    },
    close: () => server.close({ graceMs: 0 }),
  };
}

/** The spans of one call, made by the SDK alone. */
function bareSpans(): Work {
  const tracer = providerOf(new AlwaysOnSampler()).getTracer('bare');
  const common: Attributes = { 'gen_ai.agent.name': 'Agent', 'gen_ai.agent.version': '1.0.0' };
  let number = 0;
  const run = () => {
    number += 1;
    const ids = { 'a2a.message.id': `m${number}`, 'a2a.task.id': `t${number}`, 'gen_ai.conversation.id': `c${number}` };
    const call = tracer.startSpan(
      'SendMessage',
      {
        kind: SpanKind.SERVER,
        attributes: {
          'a2a.method.name': 'SendMessage',
          'a2a.protocol.version': '1.0',
          ...common,
          'a2a.message.id': ids['a2a.message.id'],
        },
      },
      context.active(),
    );
    const within = trace.setSpan(context.active(), call);
    return context.with(within, async () => {
      const turn = tracer.startSpan(
        'invoke_agent Agent',
        {
          kind: SpanKind.INTERNAL,
          attributes: { ...common, 'gen_ai.operation.name': 'invoke_agent', ...ids, 'parley.turn.attempt': 1 },
        },
        within,
      );
      await context.with(trace.setSpan(within, turn), async () => {});
      turn.setAttributes({ 'a2a.task.state': 'TASK_STATE_COMPLETED' }).end();
      call.setAttributes({ 'a2a.task.id': ids['a2a.task.id'], 'a2a.task.state': 'TASK_STATE_COMPLETED' }).end();
    });
  };
  return { run, close: async () => {} };
}

function providerOf(sampler: Sampler): TracerProvider {
  const exporter: SpanExporter = {
    export: (_, done) => done({ code: 0 }),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  return new TracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
}

/** CPU time of one run, in µs. */
async function cpuOf({ run }: Work, times: number): Promise<number> {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
