import { webCompressor } from '../adapters/fetch/web-compressor.js';
import { AgentHost } from '../app/agent-host.js';
import { type BaseUrlRule, baseUrlOf, forwardingOf } from '../app/base-url.js';
import { OpenStreams } from '../app/middleware/open-streams.js';
import type { AgentOptions } from '../app/options/agent-options.js';
import { checkPlacedAgent, hostSchemas } from '../app/options/host-options.js';
import type { User } from '../auth/user.js';
import { IN_PROCESS } from '../bindings/in-process/in-process-agent.js';
import type { Client } from '../client/client.js';
import { OptionsError } from '../errors/options-error.js';
import { BY_VERB } from '../operations/operations.js';
import type { IdSource } from '../runtime/id-source.js';
import { type PromptFunction, type PromptRunner, agent as promptAgent } from '../server/agent.js';
import type { AgentExecutor } from '../server/agent-executor.js';
import type { RequestHandler } from '../server/request-handler.js';
import type { TaskStorage } from '../store/task-storage.js';
import { silentLogger } from '../telemetry/logger.js';
import { AgentErrors } from '../testing/agent-errors.js';
import type { ManualClock } from '../testing/manual-clock.js';
import { connect } from './client.js';
import { hostSetup } from './host-setup.js';
import { checkPlatform } from './platform.js';
import type { AgentHandlerOptions } from './server.js';

/** An agent as servers take it. */
type PlainAgent = AgentExecutor | PromptFunction | PromptRunner;

/** An agent to test: all that servers take, a request handler, or the options of an agent. */
export type TestedAgent = PlainAgent | RequestHandler | AgentOptions;

/** An agent that the engine runs. */
export type EngineAgent = PlainAgent | (AgentOptions & { readonly handler?: never });

/** The options of the server of a tested agent. */
export type TestServerOptions = Omit<AgentHandlerOptions, 'agent' | 'handler' | 'taskStore'>;

/** A server in this process, without a socket. */
export interface TestProcess {
  readonly client: Client;
  readonly errors: AgentErrors;
  close(graceMs: number): Promise<void>;
}

/** The parts of a server that a test controls. */
export interface TestProcessOptions {
  /** The name of the function, for errors. */
  readonly subject: string;
  readonly agent: TestedAgent;
  readonly options: TestServerOptions;
  readonly user: User | undefined;
  readonly storage: TaskStorage;
  readonly clock: ManualClock;
  readonly ids: IdSource;
}

/** Starts a server, and connects a client. */
export async function startProcess({
  subject,
  agent,
  options,
  user,
  ...ports
}: TestProcessOptions): Promise<TestProcess> {
  checkPlatform(subject);
  // Commits that wait for others would wait for the manual clock.
  const placed = {
    ...sourceOf(agent),
    ...options,
    limits: { commitDelayMs: 0, ...options.limits },
    storage: ports.storage,
  };
  checkPlacedAgent({ subject, schemas: hostSchemas, options: placed });
  const errors = new AgentErrors();
  const { path = '/', logger = silentLogger } = placed;
  const defaults = { logger: silentLogger, operates: false, compressor: webCompressor };
  const {
    host: setup,
    rule,
    inProcess,
  } = hostSetup({
    subject,
    agents: { [path]: placed },
    options: { ...placed, logger: errors.logger(logger) },
    defaults,
  });
  const baseUrl: BaseUrlRule = { ...rule, bound: () => undefined };
  const streams = new OpenStreams();
  const host = new AgentHost({
    ...setup,
    clock: ports.clock,
    ids: ports.ids,
    isTrustedProxy: rule.isTrustedProxy,
    baseUrl: baseUrlOf(baseUrl),
    forwarding: forwardingOf(baseUrl),
    streams,
  });
  await host.start();
  const client = await connect({ [IN_PROCESS]: (place) => inProcess.way({ ...place, user }) });
  return {
    client,
    errors,
    close: async (graceMs) => {
      host.drain();
      await host.close(graceMs);
      streams.end();
    },
  };
}

/** The options of an agent in any form. The check of the options refuses all other values. */
function sourceOf(agent: TestedAgent): AgentOptions {
  if (Object(agent) !== agent) return { agent: agent as PlainAgent };
  if ('agent' in agent || 'handler' in agent) return agent;
  return BY_VERB.send in agent ? { handler: agent } : { agent };
}

/** The same agent, with another executor around its own. */
export function wrapped(agent: EngineAgent, wrap: (executor: AgentExecutor) => AgentExecutor): AgentOptions {
  const { agent: source, handler: _, ...options } = sourceOf(agent);
  if (source === undefined) throw new OptionsError('crashAndResume', ['agent: must be one that the engine runs']);
  const executor = typeof source === 'object' && 'execute' in source ? source : promptAgent(source);
  return { ...options, agent: wrap(executor) };
}
