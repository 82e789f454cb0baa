import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { calledVersion, majorMinor } from '../operations/versions.js';

const CURRENT = '1.0';

/** The caller's preferences among the interfaces of a card. */
export interface InterfaceWishes {
  /** The only binding to use, such as `HTTP+JSON`. */
  readonly binding?: string;
  /** The only version to use, as `Major.Minor`. */
  readonly version?: string;
  /** Bindings or versions to try first, in order of preference. The order of the card decides between the others. */
  readonly prefer?: readonly string[];
}

/**
 * Selects the interfaces that fit, in order of preference (Spec §8.3.2), with the versions in which they are called.
 * Interfaces of later minor versions count only if the card offers none of 1.0 that fits.
 */
export function selectInterfaces(
  { supportedInterfaces }: Pick<AgentCard, 'supportedInterfaces'>,
  { binding, version, prefer = [] }: InterfaceWishes,
  isKnown: (agentInterface: AgentInterface) => boolean,
): readonly AgentInterface[] {
  const fitting = supportedInterfaces.flatMap((item) => {
    const protocolVersion = calledVersion(item.protocolVersion);
    const one = { ...item, protocolVersion };
    const fits =
      isKnown(one) &&
      (binding === undefined || item.protocolBinding === binding) &&
      (version === undefined || protocolVersion === majorMinor(version));
    return fits ? [{ one, isLater: majorMinor(item.protocolVersion) !== protocolVersion }] : [];
  });
  const hasCurrent = fitting.some(({ one, isLater }) => one.protocolVersion === CURRENT && !isLater);
  const selected = fitting.filter(({ isLater }) => !(isLater && hasCurrent)).map(({ one }) => one);
  const rank = ({ protocolBinding, protocolVersion }: AgentInterface): number => {
    const at = prefer.findIndex((wish) => wish === protocolBinding || wish === protocolVersion);
    return at === -1 ? prefer.length : at;
  };
  return selected.sort((a, b) => rank(a) - rank(b));
}
