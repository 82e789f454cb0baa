import type { Invocation } from '../command-line/invocation.js';
import { demoAgent } from '../serve/demo-agent.js';
import { serveAgents } from '../serve/serve-agents.js';

/** Serves a demo agent. */
export function run(invocation: Invocation): Promise<number> {
  return serveAgents(invocation, { agent: demoAgent() });
}
