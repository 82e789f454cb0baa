import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { majorMinor } from '../operations/versions.js';

/** The caller's preferences among the interfaces of a card. */
export interface InterfaceWishes {
  /** The only binding to use, such as `HTTP+JSON`. */
  readonly binding?: string;
  /** The only version to use, as `Major.Minor`. */
  readonly version?: string;
  /** Bindings or versions to try first, in order of preference. The order of the card decides between the others. */
  readonly prefer?: readonly string[];
}

/** Selects the interfaces that fit, in order of preference (Spec §8.3.2). Versions are reduced to `Major.Minor`. */
export function selectInterfaces(
  { supportedInterfaces }: Pick<AgentCard, 'supportedInterfaces'>,
  { binding, version, prefer = [] }: InterfaceWishes,
  isKnown: (agentInterface: AgentInterface) => boolean,
): readonly AgentInterface[] {
  const all = supportedInterfaces.map((item) => ({ ...item, protocolVersion: majorMinor(item.protocolVersion) }));
  const fitting = all.filter(
    (item) =>
      isKnown(item) &&
      (binding === undefined || item.protocolBinding === binding) &&
      (version === undefined || item.protocolVersion === majorMinor(version)),
  );
  const rank = ({ protocolBinding, protocolVersion }: AgentInterface): number => {
    const at = prefer.findIndex((wish) => wish === protocolBinding || wish === protocolVersion);
    return at === -1 ? prefer.length : at;
  };
  return fitting.sort((a, b) => rank(a) - rank(b));
}
