import { AGENT_CALLS_EXTENSION, type Caller, chainIn, placesOf } from '../agent-calls/call-chain.js';
import { type CalleeSearch, type CallLimits, OutgoingCall } from '../agent-calls/outgoing-call.js';
import type { Patience } from '../agent-calls/patience.js';
import type { User } from '../auth/user.js';
import type { ClientCallContext } from '../client/call-options.js';
import type { Client } from '../client/client.js';
import type { AgentExtension } from '../model/agent-card.js';
import { contentHash } from '../model/content-hash.js';
import { isObject } from '../model/json.js';
import type { Interceptor } from '../operations/interceptor.js';
import type { Clock } from '../runtime/clock.js';
import { IN_PROCESS } from '../runtime/in-process.js';
import type { AgentTarget, CallAgent } from '../server/agent-call.js';
import type { ServedTurn, TurnPorts } from '../server/turn-ports.js';
import type { AgentMount } from './agent-mount.js';
import type { HostExtension, HostView } from './host-extension.js';

/** The most addresses by which an agent names itself in a chain. */
const MOST_OWN = 5;
/** Maximum wait of a canceled turn for the cancels of its calls, in ms. */
const SETTLE_MS = 1_000;

/** The settings and ports of the calls of a host. */
interface AgentCallsPorts {
  /** The longest chain of calls: each agent in it calls the next one. */
  readonly maxDepth: number;
  readonly limits: CallLimits;
  readonly patience: Patience;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  /** Finds the card of a target, for a caller. */
  readonly connect: (
    target: AgentTarget,
    search: CalleeSearch & {
      readonly user: User | undefined;
      /** The outermost function around each call. Absent: none. */
      readonly first: Interceptor<ClientCallContext> | undefined;
    },
  ) => Promise<Client>;
}

/** Lets the agents of a host call other agents. */
export class AgentCallsExtension implements HostExtension {
  readonly turnPorts: TurnPorts;
  readonly #ports: AgentCallsPorts;
  readonly #canceling = new Set<Promise<void>>();
  readonly #ids = new Map<string, string>();
  #host: HostView | undefined;

  constructor(ports: AgentCallsPorts) {
    this.#ports = ports;
    this.turnPorts = { callAgent: (turn) => this.#callsOf(turn) };
  }

  endpoints(host: HostView): readonly [] {
    this.#host = host;
    return [];
  }

  cardExtensions(_mount: AgentMount): readonly AgentExtension[] {
    return [
      {
        uri: AGENT_CALLS_EXTENSION,
        description: 'The metadata of a message may tell the chain of calls that it belongs to, so that loops end.',
        required: false,
        params: { maxDepth: this.#ports.maxDepth },
      },
    ];
  }

  /** Waits for the cancels that are under way. */
  async close(graceMs: number): Promise<void> {
    if (this.#host !== undefined) await waitForCancels(this.#canceling, this.#host.clock, graceMs);
  }

  #callsOf(turn: ServedTurn): CallAgent {
    const host = this.#host;
    if (host === undefined) throw new Error('The host has no agents yet');
    const { clock, logger } = host;
    const { maxDepth, limits, patience, random, connect } = this.#ports;
    const began = clock.monotonic();
    const told = chainIn(turn.caller.requestMetadata);
    const { agent } = turn.scope;
    const id = this.#idOf(agent);
    const own = this.#placesOf(agent);
    const first = host.extensions.find(({ callInterceptor }) => callInterceptor)?.callInterceptor;
    let number = 0;
    const canceling = new Set<Promise<void>>();
    // The record of a canceled task contains the tokens that called agents tell in answer to their cancels.
    turn.settleFirst(() => (canceling.size === 0 ? undefined : waitForCancels(canceling, clock, SETTLE_MS)));
    return (target, message, options = {}) => {
      checkArguments(target, message);
      number += 1;
      const waits = told?.remainingMs;
      const chain = told && { ...told, remainingMs: waits && Math.max(0, waits - (clock.monotonic() - began)) };
      const caller: Caller = { chain, id, own, maxDepth };
      const urls = urlsOf(target);
      const key = options.key ?? String(number);
      return new OutgoingCall({
        turn,
        caller,
        urls,
        message,
        options,
        key,
        // An agent of the process has no url, so the keys of the calls tell its calls apart.
        callee: contentHash(urls.length === 0 ? ['in-process', key] : [...urls]),
        connect: (search) => connect(target, { ...search, user: turn.user, first }),
        limits,
        patience,
        clock,
        random,
        logger,
        canceling: (cancel) => {
          keep(cancel, this.#canceling);
          keep(cancel, canceling);
        },
      });
    };
  }

  /** The id of an agent in this process. */
  #idOf(agent: string): string {
    const id = this.#ids.get(agent) ?? `urn:uuid:${this.#host?.ids.random() ?? ''}`;
    this.#ids.set(agent, id);
    return id;
  }

  /** The addresses of an agent, as far as the host knows them. */
  #placesOf(agent: string): readonly string[] {
    const { mounts = [], baseUrl } = this.#host ?? {};
    const base = baseUrl?.() ?? '';
    const urls = mounts
      .filter((mount) => mount.agent.id === agent && base !== '')
      .flatMap((mount) => [`${base}${mount.path}`, ...mount.interfaces(base).map(({ url }) => url)]);
    return placesOf(urls).slice(0, MOST_OWN);
  }
}

function keep(cancel: Promise<void>, canceling: Set<Promise<void>>): void {
  canceling.add(cancel);
  void cancel.finally(() => canceling.delete(cancel));
}

/** Resolves when the cancels have ended, at most after `ms`. A cancel may begin when another wait has ended. */
async function waitForCancels(canceling: ReadonlySet<Promise<void>>, clock: Clock, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = clock.after(ms, resolve);
  const all = async () => {
    while (canceling.size > 0) await Promise.allSettled(canceling);
    resolve();
  };
  void all();
  await promise;
  stopTimer();
}

/** @throws TypeError naming the argument. Agents in JavaScript, and models, leave arguments out. */
function checkArguments(target: unknown, message: unknown): void {
  const isTarget = isObject(target) && (Array.isArray(target.supportedInterfaces) || IN_PROCESS in target);
  if (typeof target !== 'string' && !isTarget)
    throw new TypeError('callAgent: target must be the url of an agent, a card or a server object');
  if (typeof message !== 'string' && !(isObject(message) && Array.isArray(message.parts)))
    throw new TypeError('callAgent: message must be a text, or an object with parts');
}

/** The urls that name a target before its card is read. */
function urlsOf(target: AgentTarget): readonly string[] {
  if (typeof target === 'string') return [target];
  if (!('supportedInterfaces' in target)) return [];
  return target.supportedInterfaces.map(({ url }) => url);
}
