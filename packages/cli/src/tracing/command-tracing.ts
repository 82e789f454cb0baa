import type { Logger } from 'parley-a2a';
import type { ConnectOptions } from 'parley-a2a/client';
import type { A2AHostOptions } from 'parley-a2a/node';
import { failureOf } from '../failure/failure.js';
import { lacksPackagesOf } from '../failure/needed-packages.js';
import { ReportedFailure } from '../failure/reported-failure.js';
import type { Output } from '../output/output.js';

/** Longest wait for spans to be sent at the end, in ms. A tracing tool that hangs must not hold a command. */
const FLUSH_MS = 2_000;
/** Facts about the process that every span has. The command line is none of them: it may have secrets. */
const DETECTORS = 'env,host,os';

/** The SDK of the user. `close` sends what it has. */
interface Sdk {
  readonly api: typeof import('@opentelemetry/api');
  readonly close: () => Promise<unknown>;
}

/** The use of an SDK: one command, or a server that runs on. */
type Role = 'command' | 'server';

/** Spans of a command, which the SDK of OpenTelemetry sends that the user has installed. It is loaded on demand. */
export class CommandTracing {
  readonly #output: Output;
  readonly #variable: string;
  #sdk: Promise<Sdk | undefined> | undefined;
  /** Errors of the SDK, each once. */
  readonly #troubles = new Set<string>();

  /** `variable`: the one that asks for traces. */
  constructor(output: Output, variable: string) {
    this.#output = output;
    this.#variable = variable;
  }

  /** Runs a command within a span, below the span that `TRACEPARENT` names. */
  async run(path: string, command: () => Promise<number>): Promise<number> {
    const sdk = await this.#open('command');
    if (sdk === undefined) return command();
    const { context, propagation, ROOT_CONTEXT, SpanStatusCode, trace } = sdk.api;
    const { TRACEPARENT: traceparent, TRACESTATE: tracestate } = process.env;
    const parent = propagation.extract(ROOT_CONTEXT, { traceparent, tracestate });
    const attributes = { 'process.executable.name': 'parley' };
    const span = trace.getTracer('parley-a2a').startSpan(`parley ${path}`, { attributes }, parent);
    const fail = (type: string) => span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
    try {
      const code = await context.with(trace.setSpan(parent, span), command);
      span.setAttribute('process.exit.code', code);
      if (code !== 0) fail(String(code));
      return code;
    } catch (error) {
      fail((error instanceof ReportedFailure ? error.failure : failureOf(error)).code);
      throw error;
    } finally {
      span.end();
    }
  }

  /** The interceptors that make a span of each call. */
  async interceptors(): Promise<NonNullable<ConnectOptions['interceptors']>> {
    const sdk = await this.#open('command');
    return sdk === undefined ? [] : [(await import('parley-a2a-otel')).clientTracing()];
  }

  /** The tracing of a server, and its logger with the ids of spans. */
  async server(logger: Logger): Promise<Pick<A2AHostOptions, 'tracing' | 'logger'>> {
    const sdk = await this.#open('server');
    if (sdk === undefined) return {};
    const { addTraceIds, serverTracing } = await import('parley-a2a-otel');
    return { tracing: serverTracing(), logger: addTraceIds(logger) };
  }

  /** Sends the spans, within a bounded time. */
  async close(): Promise<void> {
    const sdk = await this.#sdk;
    if (sdk === undefined) return;
    const late = Symbol('late');
    const { promise, resolve } = Promise.withResolvers<typeof late>();
    const timer = setTimeout(resolve, FLUSH_MS, late);
    const ended = await Promise.race([sdk.close().catch((error: unknown) => this.#note(error)), promise]);
    clearTimeout(timer);
    if (ended === late)
      this.#note(`no receiver took them within ${FLUSH_MS / 1000} s; see OTEL_EXPORTER_OTLP_ENDPOINT`);
    for (const trouble of this.#troubles) this.#output.warn(`spans were not sent: ${trouble}`);
  }

  #open(role: Role): Promise<Sdk | undefined> {
    this.#sdk ??= this.#start(role).catch((error: unknown) => {
      this.#output.warn(`spans are not made: ${textOf(error)}`);
      return undefined;
    });
    return this.#sdk;
  }

  async #start(role: Role): Promise<Sdk | undefined> {
    const command = lacksPackagesOf('OpenTelemetry');
    if (command !== undefined) {
      this.#output.warn(`${this.#variable} asks for traces, which need an SDK: ${command}`);
      return undefined;
    }
    const api = await import('@opentelemetry/api');
    const { diag, DiagLogLevel, isSpanContextValid, trace } = api;
    // An SDK that `node --import` has registered.
    if (isSpanContextValid(trace.getTracer('parley-a2a').startSpan('').spanContext()))
      return { api, close: () => flush(trace.getTracerProvider()) };
    // The own logger of the SDK would write to stdout, between results.
    const note = (message: string) => this.#note(message);
    const quiet = () => {};
    const logger = { error: note, warn: note, info: quiet, debug: quiet, verbose: quiet };
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    const { NodeSDK } = await import('@opentelemetry/sdk-node');
    const make = () =>
      new NodeSDK({
        ...(isNamed(process.env) ? {} : { serviceName: 'parley' }),
        // A command ends before a series of figures begins.
        ...(role === 'command' && { metricReaders: [], logRecordProcessors: [] }),
      });
    const sdk = withVariables({ OTEL_LOG_LEVEL: undefined, OTEL_NODE_RESOURCE_DETECTORS: DETECTORS }, make);
    sdk.start();
    return { api, close: () => sdk.shutdown() };
  }

  #note(trouble: unknown): void {
    const text = textOf(trouble);
    // The first few are enough of a server that runs for months.
    if (this.#troubles.size < 3) this.#troubles.add(text);
  }
}

/** True if variables name the service. */
function isNamed({ OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES = '' }: NodeJS.ProcessEnv): boolean {
  return !!OTEL_SERVICE_NAME || /(?:^|,)\s*service\.name=/.test(OTEL_RESOURCE_ATTRIBUTES);
}

/** Calls a function while variables have other values. */
function withVariables<Result>(variables: Readonly<Record<string, string | undefined>>, call: () => Result): Result {
  const { env } = process;
  const before = Object.keys(variables).map((name) => [name, env[name]] as const);
  const set = ([name, value]: readonly [string, string | undefined]) => {
    if (value === undefined) delete env[name];
    else env[name] = value;
  };
  try {
    Object.entries(variables).forEach(set);
    return call();
  } finally {
    before.forEach(set);
  }
}

/** Sends the spans of a provider that another program has registered. */
async function flush(provider: object): Promise<void> {
  const delegate = 'getDelegate' in provider ? (provider as { getDelegate(): object }).getDelegate() : provider;
  if ('forceFlush' in delegate) await (delegate as { forceFlush(): Promise<void> }).forceFlush();
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
