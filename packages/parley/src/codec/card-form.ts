import { isObject } from '../model/json.js';

/** Members of a card that 1.0 does not have. */
const OLD_MEMBERS = ['url', 'protocolVersion', 'preferredTransport', 'additionalInterfaces'];
/** The same in the spelling of protobuf. */
const OLD_SPELLINGS = ['protocol_version', 'preferred_transport', 'additional_interfaces'];

/** True if a card is of a version before 1.0: it has an address, but not in the form of 1.0. */
export function isOldCard(card: unknown): card is Readonly<Record<string, unknown>> {
  if (!isObject(card)) return false;
  const interfaces = card.supportedInterfaces ?? card.supported_interfaces;
  return !(Array.isArray(interfaces) && interfaces.length > 0) && hasOldAddress(card);
}

/** True if a card has an address in the form of a version before 1.0, perhaps beside that of 1.0. */
export function hasOldAddress(card: Readonly<Record<string, unknown>>): boolean {
  return [...OLD_MEMBERS, ...OLD_SPELLINGS].some((member) => member in card);
}

/** A number with or without a `v`, as some cards have it. */
const SPELLED = /^v?(\d{1,5}(?:\.[\w.+-]*)?)$/i;

/** Reads a version as others write it: `v1`, `1` or the number 1 for `1.0`. Undefined: the value names none. */
export function readVersion(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).trim();
  const version = SPELLED.exec(text)?.[1] ?? text;
  return (/^\d+$/.test(version) ? `${version}.0` : version) || undefined;
}
