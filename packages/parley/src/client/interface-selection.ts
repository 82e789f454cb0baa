import { A2AError } from '../errors/a2a-error.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { majorMinor } from '../operations/versions.js';

/** What the caller wants of the interfaces of a card. */
export interface InterfaceWishes {
  /** The only binding to be used, such as `HTTP+JSON`. */
  readonly binding?: string;
  /** The only version to be used, `Major.Minor`. */
  readonly version?: string;
  /** Bindings or versions to be tried before the others, best first; the card's order decides between the rest. */
  readonly prefer?: readonly string[];
}

/**
 * The interfaces of a card that fit, best first (spec §8.3.2). Versions are reduced to `Major.Minor`.
 * @throws A2AError where there is none, naming those there are: VERSION_NOT_SUPPORTED where none has the version, else
 *   UNSUPPORTED_OPERATION.
 */
export function selectInterfaces(
  card: AgentCard,
  { binding, version, prefer = [] }: InterfaceWishes,
  isKnown: (agentInterface: AgentInterface) => boolean,
): readonly AgentInterface[] {
  const all = card.supportedInterfaces.map((item) => ({ ...item, protocolVersion: majorMinor(item.protocolVersion) }));
  const fitting = all.filter(
    (item) =>
      isKnown(item) &&
      strangeScheme(item.url) === undefined &&
      (binding === undefined || item.protocolBinding === binding) &&
      (version === undefined || item.protocolVersion === majorMinor(version)),
  );
  if (fitting.length === 0) {
    const hasVersion = version === undefined || all.some((item) => item.protocolVersion === majorMinor(version));
    const message = missing(card.name, all, [binding, version].filter((part) => part !== undefined).join(' '));
    throw new A2AError(hasVersion ? 'UNSUPPORTED_OPERATION' : 'VERSION_NOT_SUPPORTED', message);
  }
  const rank = ({ protocolBinding, protocolVersion }: AgentInterface): number => {
    const at = prefer.findIndex((wish) => wish === protocolBinding || wish === protocolVersion);
    return at === -1 ? prefer.length : at;
  };
  return fitting.sort((a, b) => rank(a) - rank(b));
}

/** Platforms fetch more than that, `data:` for one. Undefined for a url of the web, else why it is none. */
function strangeScheme(url: string): string | undefined {
  const protocol = URL.parse(url)?.protocol;
  return protocol === 'http:' || protocol === 'https:'
    ? undefined
    : `${protocol ?? 'its address'} is not http or https`;
}

function missing(name: string, all: readonly AgentInterface[], wish: string): string {
  if (wish === '' && all.length > 0 && all.every(({ protocolBinding }) => protocolBinding === 'GRPC'))
    return `${name} offers gRPC only, which this client does not speak: its card lists no JSONRPC or HTTP+JSON interface`;
  const offered = all.map(({ protocolBinding, protocolVersion, url }) => {
    const strange = protocolBinding === 'GRPC' ? undefined : strangeScheme(url);
    return `${protocolBinding} ${protocolVersion}${strange === undefined ? '' : ` (${strange})`}`;
  });
  const wanted = wish === '' ? 'an interface that is known here' : wish;
  return `${name} does not offer ${wanted}; its card has ${offered.join(', ') || 'no interfaces'}`;
}
