import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';

const SERVICE = 'grpc.health.v1.Health';

/** The health service, and the paths of its methods. */
export const HEALTH = { service: SERVICE, check: `/${SERVICE}/Check`, watch: `/${SERVICE}/Watch` } as const;

/** The states of a service, by their numbers in `grpc/health/v1/health.proto`. */
export const HEALTH_STATE = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;

/** The state of a service. */
export type HealthState = (typeof HEALTH_STATE)[keyof typeof HEALTH_STATE];

/**
 * The service that a request names; "" is the whole server.
 * @throws Error for bytes that are no message.
 */
export function askedService(bytes: Uint8Array): string {
  const reader = new BinaryReader(bytes);
  let service = '';
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1 && type === 2) service = reader.string();
    else reader.skip(type, field);
  }
  return service;
}

/** Encodes the answer with a state. */
export function healthAnswer(state: HealthState): Uint8Array {
  return new BinaryWriter().tag(1, 0).int32(state).finish();
}
