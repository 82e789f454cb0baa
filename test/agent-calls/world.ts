import {
  type A2AServer,
  type AgentExecutor,
  connect,
  createA2AServer,
  type StreamResponse,
  type Task,
} from 'parley-a2a';
import { type AgentCallsOptions, agentCalls } from 'parley-a2a/agent-calls';
import type { A2AServerOptions } from 'parley-a2a/node';
import { CapturingLogger } from '../../packages/parley/test/engine.js';

/** Servers of a test. `await using` closes them. */
export class Agents implements AsyncDisposable {
  readonly logger = new CapturingLogger();
  readonly #servers: A2AServer[] = [];

  /** A server that listens, with agents that may call loopback. */
  async listen(
    agent: AgentExecutor,
    {
      port = 0,
      ...options
    }: Partial<Omit<A2AServerOptions, 'calls'>> & { readonly calls?: undefined; readonly port?: number } = {},
    calls: AgentCallsOptions = {},
  ) {
    const server = createA2AServer({
      agent,
      logger: this.logger,
      calls: agentCalls({ allow: ['127.0.0.1'], ...calls }),
      ...options,
    } as A2AServerOptions);
    this.#servers.push(server);
    const { url } = await server.listen(port);
    return { server, url, client: await connect(url) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers.splice(0)) await server.close({ graceMs: 0 });
  }
}

/** An agent of a function. */
export function executor(execute: AgentExecutor['execute'], more: Partial<AgentExecutor> = {}): AgentExecutor {
  return { execute, ...more };
}

/** The task of an answer. */
export function taskOf(answer: StreamResponse): Task {
  if (answer.task === undefined) throw new Error(`no task but ${JSON.stringify(answer)}`);
  return answer.task;
}
