import { isOldCard } from './schema/card-problems.js';
import type { Capabilities } from './tested-agent.js';
import type { AgentInterface } from './wire/agent-wire.js';
import { itemsOf, memberOf } from './wire/json.js';

/** The members of a card that the tester needs. */
interface CardFacts {
  readonly name: string;
  readonly version: string;
  readonly interfaces: readonly AgentInterface[];
  readonly capabilities: Capabilities;
}

/** Reads a card of 1.0 or 0.3 as it was published. Unreadable members are left out. */
export function cardFacts(card: unknown): CardFacts {
  const isOld = isOldCard(card);
  const capabilities = memberOf(card, 'capabilities');
  return {
    name: String(memberOf(card, 'name') ?? ''),
    version: String(memberOf(card, 'version') ?? ''),
    interfaces: isOld ? oldInterfaces(card) : itemsOf(memberOf(card, 'supportedInterfaces')).flatMap(interfaceIn),
    capabilities: {
      streaming: memberOf(capabilities, 'streaming') === true,
      pushNotifications: memberOf(capabilities, 'pushNotifications') === true,
      extendedAgentCard:
        (isOld ? memberOf(card, 'supportsAuthenticatedExtendedCard') : memberOf(capabilities, 'extendedAgentCard')) ===
        true,
    },
  };
}

function interfaceIn(value: unknown): readonly AgentInterface[] {
  const [url, protocolBinding, version] = ['url', 'protocolBinding', 'protocolVersion'].map((name) =>
    memberOf(value, name),
  );
  if (typeof url !== 'string' || typeof protocolBinding !== 'string' || typeof version !== 'string') return [];
  const tenant = memberOf(value, 'tenant');
  const protocolVersion = majorMinor(version);
  return [{ url, protocolBinding, protocolVersion, ...(typeof tenant === 'string' && { tenant }) }];
}

/** The main interface of a card of 0.3 and the additional ones. Many cards list the main one twice. */
function oldInterfaces(card: unknown): readonly AgentInterface[] {
  const protocolVersion = majorMinor(String(memberOf(card, 'protocolVersion') ?? '0.2'));
  const main = { url: memberOf(card, 'url'), transport: memberOf(card, 'preferredTransport') ?? 'JSONRPC' };
  const found = new Map<string, AgentInterface>();
  for (const item of [main, ...itemsOf(memberOf(card, 'additionalInterfaces'))]) {
    const [url, protocolBinding] = [memberOf(item, 'url'), memberOf(item, 'transport')];
    if (typeof url === 'string' && typeof protocolBinding === 'string')
      found.set(`${protocolBinding} ${url}`, { url, protocolBinding, protocolVersion });
  }
  return [...found.values()];
}

/** `0.3.0` is `0.3`: patches do not change the wire (Spec §3.6.1). */
function majorMinor(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
