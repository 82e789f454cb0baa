import Type, { type TProperties, type TSchema } from 'typebox';

// The schemas of this room are the single source of types, validators and JSON Schema. The build writes all three.

/** An object of the protocol in its closed form: a name, and exactly these members. */
export function modelObject<P extends TProperties>(name: string, properties: P) {
  return Type.Object(properties, { $id: name, additionalProperties: false });
}

/** A map with names of the peer and values of one schema. */
export function mapOf(values: TSchema) {
  return Type.Unsafe({ type: 'object', additionalProperties: values });
}

/** Spec §5.5 `Struct`: an object with free members, which are never renamed or removed. */
export const FreeObject = Type.Unsafe({ type: 'object' });

/** Spec §5.5 `Value`: any JSON value, `null` included. */
export const FreeValue = Type.Unsafe({});

/** Bytes as standard base64 with padding (Spec §5.5). */
export const Bytes = Type.String({ format: 'base64' });

/** An instant, `YYYY-MM-DDTHH:mm:ss[.fraction]Z` (Spec §5.6.1). */
export const Timestamp = Type.String({ format: 'timestamp' });

/** A 32-bit integer with optional bounds. */
export function int32(bounds: { readonly minimum?: number; readonly maximum?: number } = {}) {
  return Type.Integer({ minimum: -2147483648, maximum: 2147483647, ...bounds });
}

/**
 * A string that must not be empty. If such a member is optional, `""` on the wire means absent, like a protobuf field
 * at its default.
 */
export const NonEmpty = Type.String({ minLength: 1 });

/**
 * A protobuf enum whose zero, the unspecified value, must not be sent. If such a member is optional, zero on the wire
 * means absent.
 */
export function specifiedEnum(names: readonly [string, ...string[]]) {
  return Type.Unsafe({ type: 'string', enum: names, not: { const: names[0] } });
}
