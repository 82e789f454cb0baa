import {
  create,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject as ProtoJson,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { type Any, AnySchema } from '@bufbuild/protobuf/wkt';
import type { JsonObject, JsonValue } from 'parley-a2a';
import { isObject } from 'parley-a2a/kit';
import { googleRpcErrorDetails, googleRpcStatus } from './descriptors.generated.js';

/** The error of a call. Each detail is ProtoJSON with its type in `@type` (Spec §10.6). */
interface RpcStatus {
  readonly code: number;
  readonly message: string;
  readonly details: readonly JsonObject[];
}

/**
 * Maximum size of the details. Clients accept 8 kB of trailers by default; this is half of it as base64, which leaves
 * room for the message.
 */
const MAX_BYTES = 3072;
const MAX_MESSAGE = 1024;
const TYPE_URL = 'type.googleapis.com/';

const STATUS = findMessage('google.rpc.Status', googleRpcStatus.messages);
const BAD_REQUEST = `${TYPE_URL}google.rpc.BadRequest`;

/**
 * Encodes a `google.rpc.Status` for the trailer `grpc-status-details-bin`. Details of unknown types are left out.
 * Violations beyond `MAX_BYTES` are left out, the last first.
 */
export function encodeStatus({ code, message, details }: RpcStatus): Uint8Array {
  for (let shown = details; ; shown = shorten(shown)) {
    const packed = shown.flatMap(pack);
    const status = create(STATUS, { code, message: message.slice(0, MAX_MESSAGE).toWellFormed(), details: packed });
    const bytes = toBinary(STATUS, status);
    if (bytes.length <= MAX_BYTES || shown.length <= 1) return bytes;
  }
}

/** Halves the violations, and drops the last detail if there are none. */
function shorten(details: readonly JsonObject[]): readonly JsonObject[] {
  const [detail] = details.filter((item) => item['@type'] === BAD_REQUEST);
  const violations = detail?.fieldViolations;
  if (!Array.isArray(violations) || violations.length < 2) return details.slice(0, -1);
  const rest = { ...detail, fieldViolations: violations.slice(0, violations.length / 2) };
  return details.map((item) => (item === detail ? rest : item));
}

/** Packs a detail. One that does not fit its message is left out, so that the error itself is sent. */
function pack({ '@type': typeUrl, ...json }: JsonObject): readonly Any[] {
  const type = typeof typeUrl === 'string' ? detailType(typeUrl) : undefined;
  if (type === undefined) return [];
  try {
    const value = toBinary(type, fromJson(type, makeWellFormed(json) as ProtoJson));
    return [create(AnySchema, { typeUrl: `${TYPE_URL}${type.typeName}`, value })];
  } catch {
    return [];
  }
}

/** Replaces lone surrogates, which protobuf cannot encode. */
function makeWellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(makeWellFormed);
  if (!isObject(value)) return value;
  const members = Object.entries(value as JsonObject);
  return Object.fromEntries(members.map(([name, member]) => [name.toWellFormed(), makeWellFormed(member)]));
}

/** Decodes a `google.rpc.Status`. Unknown details have only their type. Undefined if the bytes are no status. */
export function decodeStatus(bytes: Uint8Array): RpcStatus | undefined {
  try {
    const status = fromBinary(STATUS, bytes) as unknown as { code: number; message: string; details: readonly Any[] };
    return { code: status.code, message: status.message, details: status.details.map(unpack) };
  } catch {
    return undefined;
  }
}

function unpack({ typeUrl, value }: Any): JsonObject {
  const type = detailType(typeUrl);
  if (type === undefined) return { '@type': typeUrl };
  try {
    return { '@type': typeUrl, ...(toJson(type, fromBinary(type, value)) as JsonObject) };
  } catch {
    return { '@type': typeUrl };
  }
}

/** The known type of a detail. Only the name after the last slash of its url counts. */
function detailType(typeUrl: string): DescMessage | undefined {
  const name = typeUrl.slice(typeUrl.lastIndexOf('/') + 1);
  return googleRpcErrorDetails.messages.find(({ typeName }) => typeName === name);
}

function findMessage(name: string, messages: readonly DescMessage[]): DescMessage {
  const message = messages.find(({ typeName }) => typeName === name);
  if (message === undefined) throw new Error(`${name} has no descriptor`);
  return message;
}
