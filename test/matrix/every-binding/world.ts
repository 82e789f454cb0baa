import { setTimeout as delay } from 'node:timers/promises';
import type { AgentClock } from '../../../examples/agents/src/agent-clock.js';
import { complianceAgent } from '../../../examples/agents/src/compliance-agent.js';
import { echoAgent } from '../../../examples/agents/src/echo-agent.js';
import { helloAgent } from '../../../examples/agents/src/hello-agent.js';
import { specAgent } from '../../../examples/agents/src/spec-agent.js';
import type { Authenticator } from '../../../packages/parley/src/auth/authenticator.js';
import { userId } from '../../../packages/parley/src/auth/user.js';
import type { Client } from '../../../packages/parley/src/client/client.js';
import type { ConnectOptions } from '../../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../../packages/parley/src/exports/credentials.js';
import { type A2AHost, createA2AHost } from '../../../packages/parley/src/exports/node.js';
import type { AgentExecutor } from '../../../packages/parley/src/server/agent-executor.js';
import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import { silentLogger } from '../../../packages/parley/src/telemetry/logger.js';
import { BINDINGS, type BindingRow, type MatrixVersion } from './bindings.js';
import { failingStorage, faultyHandler } from './faults.js';
import { NARROW } from './input-limits.js';
import { KIT_PATH, kitAgent, kitExtensions } from './kit-agent.js';

/** An extension that the agent at `/demanding` requires. */
export const DEMANDED = 'https://example.com/extensions/demanded/v1';
/** The most streams of one user. */
export const STREAMS = 2;

/** Passes a hundred times faster than the clock of the machine. A wait of 30 s leaves time for a cancel. */
const clock: AgentClock = {
  now: () => new Date(),
  pause: (ms, signal) => delay(ms < 30_000 ? ms / 100 : 4_000, true, { signal }).catch(() => false),
};

/** Takes the token for the name of its user. A token that begins with `denied` lacks a scope. */
const authenticator: Authenticator = {
  challenges: ['Bearer'],
  authenticate: (credentials) => {
    const name = /^Bearer (.+)$/.exec(credentials.header('authorization') ?? '')?.[1];
    if (name === undefined) return { kind: 'anonymous' };
    if (name.startsWith('denied')) return { kind: 'refused', reason: 'scope', missingScopes: ['write'] };
    return { kind: 'user', user: { id: userId('test', name) } };
  },
};

/** `ask` asks for more, `wait` works until it is told to stop, anything else ends with its text. */
const executor: AgentExecutor = {
  async execute({ text, signal }, events) {
    await events.working();
    if (text === 'ask') return events.inputRequired('more?');
    if (text !== 'wait') return events.complete(text);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  },
};

/** Answers with the parts and the metadata of the message. */
const mirror: AgentExecutor = {
  async execute({ message: { parts, metadata } }, events) {
    await events.artifact(parts, { artifactId: 'mirror', ...(metadata && { metadata }) });
    return events.complete(parts);
  },
};

const versions = ['1.0', '0.3'] as const;
const tools = { clock, streamingTimeoutMs: 2_000 };
const plain = { agent: executor, versions };

/** The agents of the matrix by path: those of the examples in both versions, and one for each kind of refusal. */
const AGENTS = {
  '/': { ...complianceAgent(tools), versions },
  '/tck': { ...complianceAgent(tools), id: 'tck', versions },
  '/echo': { ...echoAgent(), versions },
  '/hello': { ...helloAgent(), versions },
  '/spec': { ...specAgent(tools), versions },
  '/mirror': { agent: mirror, versions },
  '/old': { ...plain, versions: ['0.3'] },
  '/owned': { ...plain, authenticator, extendedAgentCard: (card: object) => card as never },
  '/impatient': { ...plain, authenticator, limits: { storagePatienceMs: 50 } },
  '/faulty': {
    handler: faultyHandler,
    versions,
    authenticator,
    pushNotifications: true,
    extendedAgentCard: (card: object) => card as never,
  },
  '/rated': { ...plain, authenticator, ratePerPrincipal: { requests: 1, windowMs: 3_600_000 } },
  '/demanding': {
    ...plain,
    authenticator,
    extendedAgentCard: (card: object) => card as never,
    extensions: [{ uri: DEMANDED, required: true }],
  },
  '/narrow': {
    ...plain,
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    limits: NARROW,
  },
  [KIT_PATH]: { agent: kitAgent, versions },
} as const;

/** The paths of all agents of the matrix. */
export const PATHS = Object.keys(AGENTS) as readonly AgentPath[];
export type AgentPath = keyof typeof AGENTS;

/** All agents on one storage, over every binding. */
export class World implements AsyncDisposable {
  readonly host: A2AHost;

  private constructor(host: A2AHost) {
    this.host = host;
  }

  static async start(storage: TaskStorage, rows: readonly BindingRow[] = BINDINGS): Promise<World> {
    const host = createA2AHost({
      agents: AGENTS,
      storage: failingStorage(storage),
      bindings: rows.flatMap(({ serves }) => serves?.(PATHS) ?? []),
      concurrency: { streamsPerCaller: STREAMS },
      push: { allow: ['hooks.example'] },
      ...kitExtensions(),
      logger: silentLogger,
      logRequests: false,
      metrics: false,
    });
    await host.listen(0);
    return new World(host);
  }

  cell(binding: BindingRow, version: MatrixVersion): Cell {
    return new Cell({ host: this.host, binding, version });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.close({ graceMs: 100 });
  }
}

interface CellOptions {
  readonly host: A2AHost;
  readonly binding: BindingRow;
  readonly version: MatrixVersion;
}

let cells = 0;

/** One binding in one version on one store. Its users are its own. */
export class Cell implements Disposable {
  readonly name: string;
  readonly version: MatrixVersion;
  readonly #options: CellOptions;
  readonly #clients: Client[] = [];

  constructor(options: CellOptions) {
    cells += 1;
    this.name = `cell${cells}`;
    this.version = options.version;
    this.#options = options;
  }

  /** A client of an agent, that repeats nothing by itself. `user` is a token of the cell. */
  async client(path: AgentPath, user?: string, further: ConnectOptions = {}): Promise<Client> {
    const { binding, ...place } = this.#options;
    const client = await binding.connect({
      ...place,
      path,
      options: {
        retry: { attempts: 0 },
        ...(user !== undefined && { credentials: bearerToken(`${user}-${this.name}`) }),
        ...further,
      },
    });
    this.#clients.push(client);
    return client;
  }

  /** The address of an agent, for another agent. */
  url(path: AgentPath): string {
    const [first] = this.#options.host.agentCards[path]?.supportedInterfaces ?? [];
    return `${new URL(first?.url ?? '').origin}${path}`;
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients) client.close();
  }
}
