import type { Logger } from 'parley-a2a';
import type { ConnectOptions } from 'parley-a2a/client';
import type { A2AHostOptions } from 'parley-a2a/node';
import { failureOf } from '../failure/failure.js';
import { lacksPackagesOf } from '../failure/needed-packages.js';
import { ReportedFailure } from '../failure/reported-failure.js';
import type { Output } from '../output/output.js';

/** Time limit for sending spans at the end, in ms, so that a hanging collector does not block a command. */
const FLUSH_MS = 2_000;
/** Resource detectors for every span. The command line is excluded, because it may contain secrets. */
const DETECTORS = 'env,host,os';

/** The SDK of the user. `close` sends the pending spans. */
interface Sdk {
  readonly api: typeof import('@opentelemetry/api');
  readonly close: () => Promise<unknown>;
}

/** The use of an SDK: for one command, or for a running server. */
type Role = 'command' | 'server';

/**
 * Spans of a command. They are sent by the OpenTelemetry SDK that the user has installed, which is loaded on demand.
 */
export class CommandTracing {
  readonly #output: Output;
  readonly #variable: string;
  #sdk: Promise<Sdk | undefined> | undefined;
  /** Distinct errors of the SDK. */
  readonly #troubles = new Set<string>();

  /** `variable`: the variable that enables tracing. */
  constructor(output: Output, variable: string) {
    this.#output = output;
    this.#variable = variable;
  }

  /** Runs a command within a span, as a child of the span in `TRACEPARENT`. */
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

  /** Returns the interceptors that make a span for each call. */
  async interceptors(): Promise<NonNullable<ConnectOptions['interceptors']>> {
    const sdk = await this.#open('command');
    return sdk === undefined ? [] : [(await import('parley-a2a-otel')).clientTracing()];
  }

  /** Returns the tracing of a server, and its logger with span ids. */
  async server(logger: Logger): Promise<Pick<A2AHostOptions, 'tracing' | 'logger'>> {
    const sdk = await this.#open('server');
    if (sdk === undefined) return {};
    const { addTraceIds, serverTracing } = await import('parley-a2a-otel');
    return { tracing: serverTracing(), logger: addTraceIds(logger) };
  }

  /** Sends the spans, within a time limit. */
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
    // True if `node --import` has registered an SDK.
    if (isSpanContextValid(trace.getTracer('parley-a2a').startSpan('').spanContext()))
      return { api, close: () => flush(trace.getTracerProvider()) };
    // The default logger of the SDK would write to stdout, between results.
    const note = (message: string) => this.#note(message);
    const quiet = () => {};
    const logger = { error: note, warn: note, info: quiet, debug: quiet, verbose: quiet };
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    const { NodeSDK } = await import('@opentelemetry/sdk-node');
    const make = () =>
      new NodeSDK({
        ...(isNamed(process.env) ? {} : { serviceName: 'parley' }),
        // A command ends before the first export of metrics.
        ...(role === 'command' && { metricReaders: [], logRecordProcessors: [] }),
      });
    const sdk = withVariables({ OTEL_LOG_LEVEL: undefined, OTEL_NODE_RESOURCE_DETECTORS: DETECTORS }, make);
    sdk.start();
    return { api, close: () => sdk.shutdown() };
  }

  #note(trouble: unknown): void {
    const text = textOf(trouble);
    // A server that runs for months stores only the first few.
    if (this.#troubles.size < 3) this.#troubles.add(text);
  }
}

/** True if environment variables set the service name. */
function isNamed({ OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES = '' }: NodeJS.ProcessEnv): boolean {
  return !!OTEL_SERVICE_NAME || /(?:^|,)\s*service\.name=/.test(OTEL_RESOURCE_ATTRIBUTES);
}

/** Calls a function with temporarily changed environment variables. */
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

/** Sends the spans of a provider that other code has registered. */
async function flush(provider: object): Promise<void> {
  const delegate = 'getDelegate' in provider ? (provider as { getDelegate(): object }).getDelegate() : provider;
  if ('forceFlush' in delegate) await (delegate as { forceFlush(): Promise<void> }).forceFlush();
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
