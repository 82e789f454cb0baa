import type { AgentHandlerOptions } from 'parley-a2a';
import { BY_VERB, OptionsError } from 'parley-a2a/kit';
import {
  type AgentExecutor,
  type AgentOptions,
  type IdSource,
  type PromptFunction,
  type PromptRunner,
  agent as promptAgent,
  type RequestHandler,
  type TaskStorage,
  type User,
} from 'parley-a2a/server';
import { type InProcessHost, startInProcess } from 'parley-a2a/testing-kit';
import { AgentErrors } from './agent-errors.js';
import type { ManualClock } from './manual-clock.js';

/** An agent in a form that servers accept. */
type PlainAgent = AgentExecutor | PromptFunction | PromptRunner;

/** An agent to test: any agent that servers accept, a request handler, or the options of an agent. */
export type TestedAgent = PlainAgent | RequestHandler | AgentOptions;

/** An agent that the engine runs. */
export type EngineAgent = PlainAgent | (AgentOptions & { readonly handler?: never });

/** The options of the server of a tested agent. */
export type TestServerOptions = Omit<AgentHandlerOptions, 'agent' | 'handler' | 'taskStore'>;

/** The parts of a server that a test controls. */
interface TestProcessOptions {
  /** The name of the function, for errors. */
  readonly subject: string;
  readonly agent: TestedAgent;
  readonly options: TestServerOptions;
  readonly user: User | undefined;
  readonly storage: TaskStorage;
  readonly clock: ManualClock;
  readonly ids: IdSource;
}

/** A server in this process, and the errors of its agent. */
export interface TestProcess extends InProcessHost {
  readonly errors: AgentErrors;
}

/** Starts a server, and connects a client. */
export async function startProcess({
  subject,
  agent,
  options,
  user,
  ...ports
}: TestProcessOptions): Promise<TestProcess> {
  const { storage, clock, ids } = ports;
  // No delay, because commits that are grouped would wait for the manual clock.
  const limits = { commitDelayMs: 0, ...options.limits };
  const errors = new AgentErrors();
  const placed = { ...sourceOf(agent), ...options, limits, storage };
  const host = await startInProcess({
    subject,
    options: placed,
    user,
    listener: (logger) => errors.logger(logger),
    clock,
    ids,
  });
  return { ...host, errors };
}

/** The options of an agent in any form. The check of the options refuses other values. */
function sourceOf(agent: TestedAgent): AgentOptions {
  if (Object(agent) !== agent) return { agent: agent as PlainAgent };
  if ('agent' in agent || 'handler' in agent) return agent;
  return BY_VERB.send in agent ? { handler: agent } : { agent };
}

/** The same agent, with a wrapper around its executor. */
export function wrapAgent(agent: EngineAgent, wrap: (executor: AgentExecutor) => AgentExecutor): AgentOptions {
  const { agent: source, handler: _, ...options } = sourceOf(agent);
  if (source === undefined) throw new OptionsError('crashAndResume', ['agent: must be one that the engine runs']);
  const executor = typeof source === 'object' && 'execute' in source ? source : promptAgent(source);
  return { ...options, agent: wrap(executor) };
}
