import { PROTOCOL_VERSIONS } from '../codec/protocol-versions.js';
import type { WireCodec } from '../codec/wire-codec.js';
import type { SendPost } from '../net/posts.js';
import { DEFAULT_DELIVERY_POLICY } from '../push/delivery-policy.js';
import { DeliverySender } from '../push/delivery-sender.js';
import type { NotificationSigner } from '../push/notification-calls.js';
import type { NotificationChange } from '../push/notifications.js';
import type { PushSigningOptions } from '../push/signing-keys.js';
import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import { sealedStorage } from '../store/sealed-storage.js';
import type { Tracing } from '../telemetry/tracing.js';
import type { PushOptions } from './options/push-options.js';
import type { AgentPorts } from './served-agent.js';

/** The ports of push notifications that depend on the host. */
export interface PushPorts {
  readonly options: PushOptions;
  /** Loads the code that sends. */
  readonly loadSend: () => Promise<SendPost>;
  /** The reason for which a url is not called; undefined if it may be. */
  readonly refusal: (url: URL) => string | undefined;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
}

const IN_FLIGHT = 512;
const IN_FLIGHT_PER_HOST = 16;

/** The longest lease of a queue. A server that starts again after a crash waits for it. */
const MOST_LEASE_MS = 15_000;

/** The sender for the agents of a process, by their ids. */
export async function senderOf(
  push: PushPorts,
  agents: ReadonlyMap<string, NotificationChange | undefined>,
  ports: AgentPorts & { readonly leaseMs: number; readonly tracing: Tracing | undefined },
): Promise<DeliverySender> {
  const { options, loadSend, random } = push;
  const { storage, clock, ids, logger, leaseMs, tracing } = ports;
  const { inFlight = IN_FLIGHT, inFlightPerHost = IN_FLIGHT_PER_HOST, headers } = options;
  const { timeoutMs, attempts, firstDelayMs, maxDelayMs } = { ...DEFAULT_DELIVERY_POLICY, ...options };
  return new DeliverySender({
    // A sender without keys must not send an encrypted credential as it is.
    storage: sealedStorage(storage, { keys: [], logger }),
    agents: [...agents.keys()],
    changes: agents,
    clock,
    ids,
    logger,
    random,
    send: await loadSend(),
    codecOf,
    policy: { ...DEFAULT_DELIVERY_POLICY, timeoutMs, attempts, firstDelayMs, maxDelayMs },
    leaseMs: Math.min(MOST_LEASE_MS, leaseMs),
    limits: { inFlight, inFlightPerHost },
    headers,
    tracing,
    sign: options.signature && signerOf(options.signature),
  });
}

/** A signer that loads its library with the first signature. */
function signerOf(options: PushSigningOptions): NotificationSigner {
  const signer = new LoadedOnDemand(async () => (await import('../push/signatures/jwt-signer.js')).jwtSigner(options));
  return async (notification) => (await signer.get())(notification);
}

/** The codec of the version in which a configuration was registered. */
function codecOf(version: string | undefined): WireCodec {
  const known = Object.values(PROTOCOL_VERSIONS).find(({ jsonRpc }) => jsonRpc.version === version);
  return (known ?? PROTOCOL_VERSIONS['1.0']).jsonRpc;
}
