import { A2AError } from '../errors/a2a-error.js';
import { type OptionSchemas, optionObject, texts } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import { fits, isActiveType, isShownAs, sniffedType } from './sniffed-type.js';

/** The rules for the media types that a server accepts. */
export interface MediaTypeRules {
  /** Types such as `image/png`, or `image/*`. Default: all. */
  readonly allow?: readonly string[];
  /** Types that are refused, also if they are allowed. Default: none. */
  readonly deny?: readonly string[];
  /**
   * Decides about bytes that do not fit the declared type, such as a page declared as an image. The file is refused, or
   * stored as `application/octet-stream`. Default: refuse.
   */
  readonly mismatch?: 'refuse' | 'octet-stream';
}

const schemas: OptionSchemas<MediaTypeRules> = {
  allow: Type.Optional(texts),
  deny: Type.Optional(texts),
  mismatch: Type.Optional(Type.String({ enum: ['refuse', 'octet-stream'] })),
};

/** The schema of MediaTypeRules. */
export const mediaTypesSchema = optionObject(schemas);

/** The decision about a file by its type. */
type MediaTypeDecision =
  | { readonly kind: 'kept'; readonly mediaType: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** A file whose type is not taken. */
export class RefusedTypeError extends A2AError {
  override readonly name = 'RefusedTypeError';
  constructor(reason: string) {
    super('CONTENT_TYPE_NOT_SUPPORTED', reason);
  }
}

/** The type of bytes in an unknown format. */
export const UNKNOWN_TYPE = 'application/octet-stream';

/** Decides about the type of a file: from its declaration, the first bytes and the rules. */
export function decideMediaType(
  declared: string | undefined,
  head: Uint8Array,
  rules: MediaTypeRules,
): MediaTypeDecision {
  const sniffed = sniffedType(head);
  let mediaType = declared ?? sniffed ?? UNKNOWN_TYPE;
  if (declared !== undefined && declared !== UNKNOWN_TYPE && !fits(declared, sniffed)) {
    if (rules.mismatch !== 'octet-stream') {
      return { kind: 'refused', reason: `The bytes are not of the declared type ${declared}` };
    }
    mediaType = UNKNOWN_TYPE;
  }
  const { allow, deny = [] } = rules;
  // Both types are checked, so that a vague declaration cannot hide the real type.
  const shown = sniffed === undefined || isShownAs(mediaType, sniffed) ? [mediaType] : [mediaType, sniffed];
  if (shown.some((type) => deny.some((pattern) => covers(pattern, type)))) return refuse(mediaType);
  const types = mediaType === UNKNOWN_TYPE ? shown : [mediaType];
  const isAllowed = allow === undefined || types.some((type) => allow.some((pattern) => covers(pattern, type)));
  return isAllowed ? { kind: 'kept', mediaType } : refuse(mediaType);
}

/** The type under which a file is served: never one that a browser would execute. */
export function servedType(mediaType: string): string {
  return isActiveType(mediaType) ? UNKNOWN_TYPE : mediaType;
}

/** A media type without parameters, in lower case; `undefined` if the text is none. */
export function readMediaType(text: string | undefined): string | undefined {
  const type = text?.split(';', 1)[0]?.trim().toLowerCase();
  return type !== undefined && /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(type) ? type : undefined;
}

function refuse(mediaType: string): MediaTypeDecision {
  return { kind: 'refused', reason: `Files of the type ${mediaType} are not taken here` };
}

function covers(pattern: string, type: string): boolean {
  if (pattern === '*/*' || pattern === type) return true;
  return pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1));
}
