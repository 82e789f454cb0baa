import type { ErrorCode } from 'parley-a2a';
import { ERROR_STATUS, isLegacy } from 'parley-a2a/binding-kit';

/** The status codes of gRPC by name. */
export const GRPC_STATUS = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** The name of a status code. */
export type GrpcStatusName = keyof typeof GRPC_STATUS;

/** The errors whose gRPC status differs from the status name in HTTP+JSON. */
const OWN: { readonly [Code in ErrorCode]?: GrpcStatusName } = {
  METHOD_NOT_FOUND: 'UNIMPLEMENTED',
  PAYLOAD_TOO_LARGE: 'RESOURCE_EXHAUSTED',
};

/** The errors with another status before 1.0, because clients of that time know no other. */
const LEGACY: { readonly [Code in ErrorCode]?: GrpcStatusName } = {
  TASK_NOT_CANCELABLE: 'UNIMPLEMENTED',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'UNIMPLEMENTED',
  UNSUPPORTED_OPERATION: 'UNIMPLEMENTED',
  CONTENT_TYPE_NOT_SUPPORTED: 'UNIMPLEMENTED',
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'UNIMPLEMENTED',
};

/** The gRPC status of an error in a version (Spec §5.4, values of v1.0.1). */
export function grpcStatusOf(code: ErrorCode, version: string): number {
  const name = (isLegacy(version) ? LEGACY[code] : undefined) ?? OWN[code] ?? ERROR_STATUS[code]?.name;
  return GRPC_STATUS[name as GrpcStatusName] ?? GRPC_STATUS.INTERNAL;
}
