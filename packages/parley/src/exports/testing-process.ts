import { webCompressor } from '../adapters/fetch/web-compressor.js';
import { AgentHost } from '../app/agent-host.js';
import { type BaseUrlRule, baseUrlOf, forwardingOf } from '../app/base-url.js';
import { OpenStreams } from '../app/middleware/open-streams.js';
import { checkPlacedAgent, hostSchemas } from '../app/options/host-options.js';
import type { User } from '../auth/user.js';
import { IN_PROCESS } from '../bindings/in-process/in-process-agent.js';
import type { Client } from '../client/client.js';
import type { IdSource } from '../runtime/id-source.js';
import { type PromptFunction, type PromptRunner, agent as promptAgent } from '../server/agent.js';
import type { AgentExecutor } from '../server/agent-executor.js';
import type { RequestHandler } from '../server/request-handler.js';
import type { TaskStorage } from '../store/task-storage.js';
import { silentLogger } from '../telemetry/logger.js';
import type { ManualClock } from '../testing/manual-clock.js';
import { connect } from './client.js';
import { hostSetup } from './host-setup.js';
import type { AgentHandlerOptions } from './server.js';

/** An agent to test: all that servers take, or a request handler. */
export type TestedAgent = AgentExecutor | PromptFunction | PromptRunner | RequestHandler;

/** The options of the server of a tested agent. */
export type TestServerOptions = Omit<AgentHandlerOptions, 'agent' | 'handler' | 'taskStore'>;

/** A server in this process, without a socket. */
export interface TestProcess {
  readonly client: Client;
  close(graceMs: number): Promise<void>;
}

/** The parts of a server that a test controls. */
export interface TestProcessParts {
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
}: TestProcessParts): Promise<TestProcess> {
  const source = 'sendMessage' in agent ? { handler: agent } : { agent };
  // Commits that wait for others would wait for the manual clock.
  const placed = { ...options, ...source, limits: { commitDelayMs: 0, ...options.limits }, storage: ports.storage };
  checkPlacedAgent({ subject, schemas: hostSchemas, options: placed });
  const { path = '/' } = placed;
  const defaults = { logger: silentLogger, operates: false, compressor: webCompressor };
  const {
    host: setup,
    rule,
    inProcess,
  } = hostSetup({ subject, agents: { [path]: placed }, options: placed, defaults });
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
    close: async (graceMs) => {
      host.drain();
      await host.close(graceMs);
      streams.end();
    },
  };
}

/** The executor of an agent that is given in another form. */
export function executorOf(agent: Exclude<TestedAgent, RequestHandler>): AgentExecutor {
  return typeof agent === 'object' && 'execute' in agent ? agent : promptAgent(agent);
}
