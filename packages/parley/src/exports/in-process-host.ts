import { webCompressor } from '../adapters/fetch/web-compressor.js';
import { AgentHost } from '../app/agent-host.js';
import { baseUrlOf, forwardingOf } from '../app/base-url.js';
import { OpenStreams } from '../app/middleware/open-streams.js';
import { checkPlacedAgent, hostSchemas } from '../app/options/host-options.js';
import type { User } from '../auth/user.js';
import { IN_PROCESS } from '../bindings/in-process/in-process-agent.js';
import type { Client } from '../client/client.js';
import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import { type Logger, silentLogger } from '../telemetry/logger.js';
import { connect } from './client.js';
import { hostSetup } from './host-setup.js';
import { checkPlatform } from './platform.js';
import type { AgentHandlerOptions } from './server.js';

/** A server in this process, without a socket, and a client of its agent. */
export interface InProcessHost {
  readonly client: Client;
  close(graceMs: number): Promise<void>;
}

/** The options of `startInProcess`. */
interface InProcessHostOptions {
  /** The name of the function that the author calls, for errors. */
  readonly subject: string;
  readonly options: AgentHandlerOptions;
  /** The user of every call. Absent: as the authenticator of the agent decides. */
  readonly user: User | undefined;
  /** Wraps the logger of the options. */
  readonly listener: (logger: Logger) => Logger;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/**
 * Starts a server with a clock and ids of its own, and connects a client.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export async function startInProcess(setup: InProcessHostOptions): Promise<InProcessHost> {
  const { subject, options, user, listener, clock, ids } = setup;
  checkPlatform(subject);
  checkPlacedAgent({ subject, schemas: hostSchemas, options });
  const { path = '/', logger = silentLogger } = options;
  const defaults = { logger: silentLogger, operates: false, compressor: webCompressor };
  const agents = { [path]: options };
  const heard = { ...options, logger: listener(logger) };
  const { host: parts, rule, inProcess } = hostSetup({ subject, agents, options: heard, defaults });
  const streams = new OpenStreams();
  const host = new AgentHost({
    ...parts,
    clock,
    ids,
    isTrustedProxy: rule.isTrustedProxy,
    baseUrl: baseUrlOf(rule),
    forwarding: forwardingOf(rule),
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
