import { CLIENT_VERSIONS } from '../codec/client-codecs.js';
import { A2AError } from '../errors/a2a-error.js';
import { beginAtCaller } from '../errors/callers-stack.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { majorMinor } from '../operations/versions.js';
import type { CallOptions } from './call-options.js';
import type { Client } from './client.js';
import type { ClientBinding } from './client-transport.js';
import type { InterfaceWishes } from './interface-selection.js';

/** A card without an interface that fits. */
interface MissingInterface {
  readonly card: AgentCard;
  readonly wishes: InterfaceWishes & {
    /** Present if the caller passes further bindings. */
    readonly bindings?: readonly ClientBinding[];
  };
}

/** The inputs for a second search: at later versions, and in the extended card. */
interface FurtherSearch extends MissingInterface {
  readonly wishes: MissingInterface['wishes'] & Pick<CallOptions, 'signal' | 'timeoutMs'>;
  readonly select: (card: AgentCard, wishes: InterfaceWishes) => readonly AgentInterface[];
  readonly client: (card: AgentCard, interfaces: readonly AgentInterface[]) => Client;
}

/** Maximum time to get the extended card, in ms. */
const CARD_TIMEOUT_MS = 30_000;
const GET_GRPC = 'Run npm install parley-a2a-grpc, and connect with bindings: [grpcTransport()] of parley-a2a-grpc';

/**
 * The card with each interface of 1.x as one of 1.0. A client that knows no later version can call them: minor versions
 * are compatible.
 */
function asCurrent({ supportedInterfaces, ...card }: AgentCard): AgentCard {
  const called = supportedInterfaces.map((one) => ({ ...one, protocolVersion: calledVersion(one.protocolVersion) }));
  return { ...card, supportedInterfaces: called };
}

function calledVersion(version: string): string {
  const reduced = majorMinor(version);
  return /^1\.\d+$/.test(reduced) ? '1.0' : reduced;
}

function joinVersions(versions: readonly string[]): string {
  return versions
    .map((version) => version.slice(0, 32))
    .slice(0, 5)
    .join(', ');
}

/**
 * Makes a client for an interface of 1.x, called as 1.0, or for one that only the extended card lists (Spec §3.1.11).
 * @throws A2AError VERSION_NOT_SUPPORTED if no card has the wanted version; UNSUPPORTED_OPERATION if no card has an
 * interface that fits.
 */
export async function fittingClient({ card, wishes, select, client }: FurtherSearch): Promise<Client> {
  const missing = { card, wishes };
  const { signal, timeoutMs = CARD_TIMEOUT_MS } = wishes;
  const current = asCurrent(card);
  const fitting = select(current, wishes);
  if (fitting.length > 0) return client(card, fitting);
  const callable = card.capabilities.extendedAgentCard === true ? select(current, {}) : [];
  if (callable.length === 0) throw beginAtCaller(new A2AError(...missingInterface(missing)));
  const asking = client(card, callable);
  let extended: AgentCard;
  try {
    extended = await asking.getExtendedAgentCard({ ...(signal && { signal }), timeoutMs });
  } catch (cause) {
    signal?.throwIfAborted();
    const [code, message] = missingInterface(missing);
    const reason = cause instanceof Error ? cause.message : String(cause);
    const told = `${message}. Its extended card may have more, but was not read: ${reason}`;
    throw beginAtCaller(new A2AError(code, told, {}, { cause }));
  } finally {
    asking.close();
  }
  const interfaces = select(asCurrent(extended), wishes);
  if (interfaces.length === 0) throw beginAtCaller(new A2AError(...missingInterface({ card: extended, wishes })));
  return client(extended, interfaces);
}

/** The code and the message of the error, with the interfaces that a card has instead of the wanted one. */
function missingInterface({
  card,
  wishes,
}: MissingInterface): [code: 'UNSUPPORTED_OPERATION' | 'VERSION_NOT_SUPPORTED', message: string] {
  const { name, supportedInterfaces: all } = card;
  const { binding, version, bindings } = wishes;
  if (all.length === 0) {
    const remedy = 'Its author adds them to supportedInterfaces';
    return ['UNSUPPORTED_OPERATION', `${name} cannot be called: its card has no interfaces. ${remedy}`];
  }
  const wish = [binding, version].filter((part) => part !== undefined).join(' ');
  const versions = [...new Set(all.map(({ protocolVersion }) => majorMinor(protocolVersion)))];
  const spoken = 'this client speaks 1.x, 0.3 and 0.2';
  if (!versions.some((one) => CLIENT_VERSIONS.has(calledVersion(one))))
    return ['VERSION_NOT_SUPPORTED', `${name} speaks only ${joinVersions(versions)}; ${spoken}`];
  const lacksGrpc =
    bindings === undefined && (binding === undefined ? all : all.filter((one) => one.protocolBinding === binding));
  if (lacksGrpc && lacksGrpc.length > 0 && lacksGrpc.every(({ protocolBinding }) => protocolBinding === 'GRPC')) {
    const only = lacksGrpc.length === all.length ? ' only' : '';
    return ['UNSUPPORTED_OPERATION', `${name} offers gRPC${only}, which needs packages. ${GET_GRPC}`];
  }
  const offered = all.map(({ protocolBinding, protocolVersion, url }) => {
    // Other bindings have schemes of their own, such as `ws:`.
    const isStrange = /^(?:JSONRPC|HTTP\+JSON)$/.test(protocolBinding) && !/^https?:/i.test(url);
    const scheme = isStrange ? ` (${URL.parse(url)?.protocol ?? 'its address'} is not http or https)` : '';
    return `${protocolBinding} ${majorMinor(protocolVersion)}${scheme}`;
  });
  const isUnspoken = version !== undefined && !CLIENT_VERSIONS.has(majorMinor(version));
  const lacks = isUnspoken
    ? `is not called in ${version}: ${spoken}`
    : `does not offer ${wish === '' ? 'an interface that is known here' : wish}`;
  const hasVersion =
    version === undefined || all.some(({ protocolVersion }) => calledVersion(protocolVersion) === majorMinor(version));
  return [
    hasVersion ? 'UNSUPPORTED_OPERATION' : 'VERSION_NOT_SUPPORTED',
    `${name} ${lacks}; its card has ${[...new Set(offered)].join(', ')}`,
  ];
}
