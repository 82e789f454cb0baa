import type { Client } from 'parley-a2a/client';
import { listedAgents } from '../agent/listed-agents.js';
import { type NamedAgent, withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { needPackagesOf } from '../failure/needed-packages.js';
import { ReportedFailure } from '../failure/reported-failure.js';
import { portOf } from '../serve/listening.js';
import { CREDENTIAL_FLAGS } from '../settings/setting-origins.js';

/** Serves the skills of agents as tools over MCP, until the client or a signal ends it. */
export async function run(invocation: Invocation): Promise<number> {
  needPackagesOf('MCP');
  const { settings, output } = invocation;
  const references = settings.list('agent');
  const credential = CREDENTIAL_FLAGS.find((name) => settings.findSetting(name) !== undefined);
  if (references.length > 1 && credential !== undefined)
    throw usageError(
      `--${credential} goes to one agent only, and ${references.length} are named`,
      'start one server for each agent that needs credentials; those of parley auth login count for all',
    );
  const port = settings.text('http');
  const place = port === undefined ? undefined : { port: portOf(port, 'http'), host: '127.0.0.1' };
  const name = settings.text('name');
  const turnMs = settings.duration('timeout');
  const options = { ...(name !== undefined && { name }), ...(turnMs !== undefined && { turnMs }) };
  const named = references.length === 0 ? [{}] : references.map((reference) => ({ reference }));
  return withAgents(invocation, named, async (clients) => {
    const { serveHttp, serveStdio } = await import('../mcp/serve-mcp.js');
    if (place === undefined) await serveStdio(clients, options);
    else await serveHttp(clients, { ...options, place, output });
    return 0;
  });
}

/** Connects to the agents one after the other. A host or a catalog means all agents that it lists. */
async function withAgents(
  invocation: Invocation,
  [next, ...others]: readonly NamedAgent[],
  run: (clients: readonly Client[]) => Promise<number>,
): Promise<number> {
  if (next === undefined) return run([]);
  let isFound = false;
  try {
    return await withAgent(
      invocation,
      ({ client }) => {
        isFound = true;
        return withAgents(invocation, others, (clients) => run([client, ...clients]));
      },
      next,
    );
  } catch (error) {
    const named = next.reference ?? invocation.settings.text('agent-card');
    const cause = error instanceof ReportedFailure ? error.cause : undefined;
    const listed = isFound || named === undefined ? [] : listedAgents(invocation, cause, named);
    if (listed.length === 0) throw error;
    return withAgents(invocation, [...listed.map((reference) => ({ reference })), ...others], run);
  }
}
