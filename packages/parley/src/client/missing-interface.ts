import type { A2AError } from '../errors/a2a-error.js';
import type { AgentCard } from '../model/agent-card.js';
import type { InterfaceWishes } from './interface-selection.js';

/** A card without an interface that fits. */
export interface MissingInterface {
  readonly card: AgentCard;
  readonly wishes: InterfaceWishes;
  readonly majorMinor: (version: string) => string;
}

/**
 * Describes the interfaces that a card has instead of the wanted one. VERSION_NOT_SUPPORTED: no interface has the
 * wanted version.
 */
export function missingInterface({ card, wishes, majorMinor }: MissingInterface): Pick<A2AError, 'code' | 'message'> {
  const { name, supportedInterfaces: all } = card;
  const { binding, version } = wishes;
  const wish = [binding, version].filter((part) => part !== undefined).join(' ');
  if (binding === undefined && all.length > 0 && all.every(({ protocolBinding }) => protocolBinding === 'GRPC')) {
    const lacks = 'which this client does not speak: its card lists no JSONRPC or HTTP+JSON interface';
    return { code: 'UNSUPPORTED_OPERATION', message: `${name} offers gRPC only, ${lacks}` };
  }
  const offered = all.map(({ protocolBinding, protocolVersion, url }) => {
    const isStrange = protocolBinding !== 'GRPC' && !/^https?:/i.test(url);
    const scheme = isStrange ? ` (${URL.parse(url)?.protocol ?? 'its address'} is not http or https)` : '';
    return `${protocolBinding} ${majorMinor(protocolVersion)}${scheme}`;
  });
  const wanted = wish === '' ? 'an interface that is known here' : wish;
  const hasVersion =
    version === undefined || all.some(({ protocolVersion }) => majorMinor(protocolVersion) === majorMinor(version));
  return {
    code: hasVersion ? 'UNSUPPORTED_OPERATION' : 'VERSION_NOT_SUPPORTED',
    message: `${name} does not offer ${wanted}; its card has ${[...new Set(offered)].join(', ') || 'no interfaces'}`,
  };
}
