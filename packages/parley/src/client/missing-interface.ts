import { A2AError } from '../errors/a2a-error.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { BY_VERB } from '../operations/operations.js';
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

/** The means to look into the extended card. */
export interface ExtendedCardSearch extends MissingInterface {
  readonly wishes: MissingInterface['wishes'] & Pick<CallOptions, 'signal' | 'timeoutMs'>;
  readonly select: (card: AgentCard, wishes: InterfaceWishes) => readonly AgentInterface[];
  readonly client: (card: AgentCard, interfaces: readonly AgentInterface[]) => Client;
}

/** Longest time for the extended card. */
const CARD_TIMEOUT_MS = 30_000;
const GET_GRPC =
  'Run npm install @grpc/grpc-js @bufbuild/protobuf, and connect with bindings: [grpcTransport()] of parley-a2a/grpc';

/**
 * A client of an interface that only the extended card lists (Spec §3.1.11).
 * @throws A2AError VERSION_NOT_SUPPORTED if no card has the wanted version; UNSUPPORTED_OPERATION if no card has an
 *   interface that fits.
 */
export async function viaExtendedCard({ card, wishes, select, client }: ExtendedCardSearch): Promise<Client> {
  const missing = { card, wishes };
  const { signal, timeoutMs = CARD_TIMEOUT_MS } = wishes;
  const callable = card.capabilities.extendedAgentCard === true ? select(card, {}) : [];
  if (callable.length === 0) throw new A2AError(...missingInterface(missing));
  const asking = client(card, callable);
  let extended: AgentCard;
  try {
    extended = await asking[BY_VERB.describe]({ ...(signal && { signal }), timeoutMs });
  } catch (cause) {
    signal?.throwIfAborted();
    const [code, message] = missingInterface(missing);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new A2AError(code, `${message}. Its extended card may have more, but was not read: ${reason}`, {}, { cause });
  } finally {
    asking.close();
  }
  const interfaces = select(extended, wishes);
  if (interfaces.length === 0) throw new A2AError(...missingInterface({ card: extended, wishes }));
  return client(extended, interfaces);
}

/** The code and the message of the error, with the interfaces that a card has instead of the wanted one. */
function missingInterface({
  card,
  wishes,
}: MissingInterface): [code: 'UNSUPPORTED_OPERATION' | 'VERSION_NOT_SUPPORTED', message: string] {
  const { name, supportedInterfaces: all } = card;
  const { binding, version, bindings } = wishes;
  const wish = [binding, version].filter((part) => part !== undefined).join(' ');
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
  const wanted = wish === '' ? 'an interface that is known here' : wish;
  const hasVersion =
    version === undefined || all.some(({ protocolVersion }) => majorMinor(protocolVersion) === majorMinor(version));
  return [
    hasVersion ? 'UNSUPPORTED_OPERATION' : 'VERSION_NOT_SUPPORTED',
    `${name} does not offer ${wanted}; its card has ${[...new Set(offered)].join(', ') || 'no interfaces'}`,
  ];
}
