import type { A2AError } from '../errors/a2a-error.js';
import type { AgentCard } from '../model/agent-card.js';
import { majorMinor } from '../operations/versions.js';
import type { InterfaceWishes } from './interface-selection.js';

/** A card without an interface that fits. */
export interface MissingInterface {
  readonly card: AgentCard;
  readonly wishes: InterfaceWishes;
  /** True for a version in which this client calls. */
  readonly isSpoken: (version: string) => boolean;
  /** True if the caller passes further bindings. */
  readonly hasBindings: boolean;
}

const GET_GRPC =
  'Run npm install @grpc/grpc-js @bufbuild/protobuf, and connect with bindings: [grpcTransport()] of parley-a2a/grpc';

/**
 * The card with all interfaces of 1.x as those of 1.0, for a client that knows no later version: minor versions are
 * compatible.
 */
export function asCurrent({ supportedInterfaces, ...card }: AgentCard): AgentCard {
  const called = supportedInterfaces.map((one) => ({ ...one, protocolVersion: calledVersion(one.protocolVersion) }));
  return { ...card, supportedInterfaces: called };
}

function calledVersion(version: string): string {
  const reduced = majorMinor(version);
  return /^1\.\d+$/.test(reduced) ? '1.0' : reduced;
}

function shown(versions: readonly string[]): string {
  return versions
    .map((version) => version.slice(0, 32))
    .slice(0, 5)
    .join(', ');
}

/**
 * Describes the interfaces that a card has instead of the wanted one. VERSION_NOT_SUPPORTED: no interface has the
 * wanted version.
 */
export function missingInterface({
  card,
  wishes,
  isSpoken,
  hasBindings,
}: MissingInterface): Pick<A2AError, 'code' | 'message'> {
  const { name, supportedInterfaces: all } = card;
  const { binding, version } = wishes;
  const wish = [binding, version].filter((part) => part !== undefined).join(' ');
  const versions = [...new Set(all.map(({ protocolVersion }) => majorMinor(protocolVersion)))];
  const spoken = 'this client speaks 1.x, 0.3 and 0.2';
  if (versions.length > 0 && !versions.some((one) => isSpoken(calledVersion(one))))
    return { code: 'VERSION_NOT_SUPPORTED', message: `${name} speaks only ${shown(versions)}; ${spoken}` };
  const lacksGrpc =
    !hasBindings && (binding === undefined ? all : all.filter((one) => one.protocolBinding === binding));
  if (lacksGrpc && lacksGrpc.length > 0 && lacksGrpc.every(({ protocolBinding }) => protocolBinding === 'GRPC')) {
    const only = lacksGrpc.length === all.length ? ' only' : '';
    return { code: 'UNSUPPORTED_OPERATION', message: `${name} offers gRPC${only}, which needs packages. ${GET_GRPC}` };
  }
  const offered = all.map(({ protocolBinding, protocolVersion, url }) => {
    // Other bindings have schemes of their own, such as `ws:`.
    const isStrange = /^(?:JSONRPC|HTTP\+JSON)$/.test(protocolBinding) && !/^https?:/i.test(url);
    const scheme = isStrange ? ` (${URL.parse(url)?.protocol ?? 'its address'} is not http or https)` : '';
    return `${protocolBinding} ${majorMinor(protocolVersion)}${scheme}`;
  });
  const isUnspoken = version !== undefined && !isSpoken(majorMinor(version));
  const lacks = isUnspoken
    ? `is not called in ${version}: ${spoken}`
    : `does not offer ${wish === '' ? 'an interface that is known here' : wish}`;
  const hasVersion =
    version === undefined || all.some(({ protocolVersion }) => calledVersion(protocolVersion) === majorMinor(version));
  return {
    code: hasVersion ? 'UNSUPPORTED_OPERATION' : 'VERSION_NOT_SUPPORTED',
    message: `${name} ${lacks}; its card has ${[...new Set(offered)].join(', ') || 'no interfaces'}`,
  };
}
