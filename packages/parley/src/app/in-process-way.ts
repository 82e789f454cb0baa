import { type Authenticator, answerFault, isStorable } from '../auth/authenticator.js';
import type { User } from '../auth/user.js';
import { DirectRequest } from '../bindings/direct/direct-request.js';
import { IN_PROCESS_BINDING, type InProcessPlace, type InProcessWay } from '../bindings/in-process/in-process-agent.js';
import type { InProcessStreams } from '../bindings/in-process/in-process-events.js';
import { InProcessTransport } from '../bindings/in-process/in-process-transport.js';
import { v1_0 } from '../codec/v1_0/wire-codec.js';
import { OptionsError } from '../errors/options-error.js';
import type { AgentInterface } from '../model/agent-card.js';
import { cloneJson } from '../model/clone-json.js';
import type { AgentMount } from './agent-mount.js';
import { directWayFor } from './direct-way.js';
import type { HostView } from './host-extension.js';

export { InProcessStreams } from '../bindings/in-process/in-process-events.js';

/** The options of `inProcessWay`. */
interface InProcessWayOptions {
  /** The name of the function that made the host, for errors. */
  readonly subject: string;
  /** Absent: the host has no agents yet. */
  readonly host: HostView | undefined;
  readonly place: InProcessPlace;
  readonly streams: InProcessStreams;
}

/**
 * The way of a client to an agent of its process. The values of a call are those of 1.0: there is no wire with an older
 * form.
 * @throws OptionsError for a path without an agent, and for a user with a wrong member.
 */
export function inProcessWay({ subject, host, place, streams }: InProcessWayOptions): InProcessWay {
  const { user } = place;
  const mount = mountAt(subject, host?.mounts ?? [], place.path);
  if (host === undefined || mount === undefined) throw new OptionsError(subject, ['the host has no agents yet']);
  if (user !== undefined) {
    const fault = answerFault({ user }) ?? (isStorable(user) ? undefined : 'id: must be well-formed Unicode');
    if (fault !== undefined) throw new OptionsError(subject, [`user.${fault}`]);
  }
  const { path } = mount;
  const base = host.baseUrl(new DirectRequest({ path, header: () => undefined, signal: new AbortController().signal }));
  const { clock, limits, heartbeatMs } = mount.bindingContext(base);
  const agentInterface: AgentInterface = {
    url: `in-process:${path}`,
    protocolBinding: IN_PROCESS_BINDING,
    protocolVersion: v1_0.version,
  };
  const authenticator = user === undefined ? mount.agent.authenticator : authenticatorOf(user);
  const exchange = directWayFor({ host, mount, binding: IN_PROCESS_BINDING, authenticator });
  const { decode, version } = v1_0;
  const decoder = { decode, version };
  return {
    card: { ...cloneJson(mount.card(base)), supportedInterfaces: [agentInterface] },
    binding: {
      speaks: ({ protocolBinding }) => protocolBinding === IN_PROCESS_BINDING,
      transport: async (chosen) =>
        new InProcessTransport({
          agentInterface: chosen,
          exchange,
          path,
          decoder,
          limits,
          streams,
          clock,
          heartbeatMs,
        }),
    },
  };
}

/** The agent under a path, or the only agent. */
function mountAt(subject: string, mounts: readonly AgentMount[], path: string | undefined): AgentMount | undefined {
  const [only, other] = mounts;
  if (path === undefined && other === undefined) return only;
  const found = mounts.find((mount) => mount.path === path);
  if (found !== undefined) return found;
  const served = `The agents are at ${mounts.map((mount) => mount.path).join(', ')}`;
  const problem =
    path === undefined ? 'path: is needed, because there are several agents' : `path: no agent is at "${path}"`;
  throw new OptionsError(subject, [`${problem}. ${served}`]);
}

/** Finds the same user for each call. Only code with the server object can name that user. */
function authenticatorOf(user: User): Authenticator {
  const found = { kind: 'user', user: Object.freeze(cloneJson(user)) } as const;
  return { challenges: [], authenticate: () => found };
}
