import { canonicalJson } from '../model/canonical-json.js';
import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import { isOldCard } from './client-codecs.js';
import { canonicalCard } from './v1_0/canonical-card.js';

/** A received card as its signatures see it. */
export interface SignedCard {
  /**
   * The payloads that signers in use make of it. First that of the specification; then the one of the official SDKs, which leave out every
   * empty value; then the same with all but ASCII escaped, as early ones for Python sign it.
   */
  readonly payloads: readonly string[];
  /** The card without what its signatures do not cover: unknown members, and those of older versions beside the ones of 1.0. */
  readonly covered: JsonObject;
  /** Its member `signatures`, which nobody has looked at. */
  readonly signatures: readonly unknown[];
}

/**
 * What the signatures of a card are over (spec §8.4). One that lists its interfaces as 1.0 does is signed as a card of that version. For
 * one of an older version no form was specified; there it is all members as they were received.
 * @param document the card as JSON; it is left alone.
 * @throws RangeError for what has no canonical form.
 */
export function signedCard(document: object): SignedCard {
  const { signatures, ...received } = document as JsonObject;
  const card = isOldCard(document) ? received : canonicalCard(document);
  const whole = canonicalJson(card);
  const withoutEmpty = canonicalJson(filled(card) ?? {});
  const list = Array.isArray(signatures) ? (signatures as unknown[]) : [];
  return {
    payloads: [...new Set([whole, withoutEmpty, escaped(withoutEmpty)])],
    covered: { ...withKnownSchemes(card), ...(list.length > 0 && { signatures: list as JsonValue[] }) },
    signatures: list,
  };
}

/** The value without anything that is empty; undefined where nothing is left. */
function filled(value: JsonValue): JsonValue | undefined {
  if (value === '' || value === null) return undefined;
  if (Array.isArray(value)) {
    const items = value.map(filled).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value as JsonObject).flatMap(([name, item]) => {
    const left = filled(item);
    return left === undefined ? [] : [[name, left] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function escaped(text: string): string {
  return text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A scheme that is written in the way of older versions alone is none here: nothing of it is signed. */
function withKnownSchemes(card: JsonObject): JsonObject {
  const { securitySchemes } = card;
  if (!isObject(securitySchemes)) return card;
  const known = Object.entries(securitySchemes).filter(([, scheme]) => Object.keys(scheme ?? {}).length > 0);
  return { ...card, securitySchemes: Object.fromEntries(known) as JsonObject };
}
