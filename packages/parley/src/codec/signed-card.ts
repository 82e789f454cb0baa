import { canonicalJson } from '../model/canonical-json.js';
import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import { isOldCard } from './card-form.js';
import { canonicalCard } from './v1_0/canonical-card.js';

/** A received card in the forms that its signatures may cover. */
interface SignedCard {
  /**
   * The payloads of signers in use: that of the specification, then that of the official SDKs, which omit every empty
   * value. Early SDKs for Python also escape all but ASCII in the latter.
   */
  readonly payloads: readonly string[];
  /**
   * The card without members that its signatures do not cover: unknown members, and those of older versions beside the
   * ones of 1.0.
   */
  readonly covered: JsonObject;
  /** The member `signatures`, unchecked. */
  readonly signatures: readonly unknown[];
}

/**
 * The content that the signatures of a card cover (Spec §8.4). A card that lists its interfaces in the form of 1.0 is
 * signed as a card of that version. No form was specified for older versions: such a card is signed with all its
 * members as received.
 * @param document The card as JSON; it is not changed.
 * @throws RangeError if the card has no canonical form.
 */
export function signedCard(document: object): SignedCard {
  const { signatures, ...received } = document as JsonObject;
  const card = isOldCard(document) ? received : canonicalCard(document);
  const whole = canonicalJson(card);
  const withoutEmpty = canonicalJson(withoutEmptyValues(card) ?? {});
  const list = Array.isArray(signatures) ? (signatures as unknown[]) : [];
  return {
    payloads: [...new Set([whole, withoutEmpty, escapeNonAscii(withoutEmpty)])],
    covered: { ...withKnownSchemes(card), ...(list.length > 0 && { signatures: list as JsonValue[] }) },
    signatures: list,
  };
}

/** The value without empty texts, lists and objects; undefined if nothing is left. */
function withoutEmptyValues(value: JsonValue): JsonValue | undefined {
  if (value === '' || value === null) return undefined;
  if (Array.isArray(value)) {
    const items = value.map(withoutEmptyValues).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value as JsonObject).flatMap(([name, item]) => {
    const left = withoutEmptyValues(item);
    return left === undefined ? [] : [[name, left] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function escapeNonAscii(text: string): string {
  return text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Drops schemes that have only the form of older versions: no signature covers them. */
function withKnownSchemes(card: JsonObject): JsonObject {
  const { securitySchemes } = card;
  if (!isObject(securitySchemes)) return card;
  const known = Object.entries(securitySchemes).filter(([, scheme]) => Object.keys(scheme ?? {}).length > 0);
  return { ...card, securitySchemes: Object.fromEntries(known) as JsonObject };
}
