import type { DescFile, DescService } from '@bufbuild/protobuf';
import {
  InvalidAgentResponseError,
  InvalidParamsError,
  OPERATION_NAMES,
  type OperationName,
  tooManyItems,
  UnsupportedOperationError,
} from 'parley-a2a/binding-kit';
import { type MessagePlan, planOf } from './message-plan.js';
import { readMessage } from './read-message.js';
import { MalformedMessage, TooManyItems } from './wire-reader.js';
import { UnwritableValue, writeMessage } from './write-message.js';

/** One method of a service. */
interface MethodPlan {
  readonly name: string;
  readonly input: MessagePlan;
  /** The response, or one event of a stream. */
  readonly output: MessagePlan;
}

/** The methods of a service by operation. A missing operation has no method. */
type ServicePlan = ReadonlyMap<OperationName, MethodPlan>;

/** The only service of a file. */
export function serviceOf(file: DescFile): DescService {
  const [service] = file.services;
  if (service === undefined) throw new Error(`${file.name} has no service`);
  return service;
}

/** The methods of a service. A version lacks an operation whose name is not in the service. */
export function servicePlan(
  service: DescService,
  nameOf: (operation: OperationName) => string | undefined,
): ServicePlan {
  return new Map(
    OPERATION_NAMES.flatMap((operation) => {
      const method = service.methods.find(({ name }) => name === nameOf(operation));
      if (method === undefined) return [];
      const { name, input, output } = method;
      return [[operation, { name, input: planOf(input), output: planOf(output) }] as const];
    }),
  );
}

/**
 * The method of an operation.
 * @throws UnsupportedOperationError for an operation that the version lacks.
 */
export function methodOf(plan: ServicePlan, operation: OperationName): MethodPlan {
  const method = plan.get(operation);
  if (method === undefined) throw new UnsupportedOperationError(`This version has no ${operation}`);
  return method;
}

/** The operations of a service by the names of their methods. */
export function methodNames(plan: ServicePlan): ReadonlyMap<string, OperationName> {
  return new Map([...plan].map(([operation, { name }]) => [name, operation]));
}

/** Maximum number of items of a message, if its caller gives no limit. */
const MOST_ITEMS = 1_000_000;

/**
 * Reads a request for the validator.
 * @throws InvalidParamsError for bytes that are no such message, A2AError INVALID_REQUEST for too many items.
 */
export function readRequest(plan: MessagePlan, bytes: unknown, items = MOST_ITEMS): Record<string, unknown> {
  try {
    return readMessage(plan, bytes as Uint8Array, { validated: true, items });
  } catch (error) {
    if (error instanceof TooManyItems) throw tooManyItems(items);
    if (!(error instanceof MalformedMessage)) throw error;
    throw new InvalidParamsError([{ field: '', description: `must be a ${plan.typeName}: ${error.message}` }]);
  }
}

/**
 * Reads a response or an event of an agent.
 * @throws InvalidAgentResponseError for bytes that are no such message.
 */
export function readResponse(plan: MessagePlan, bytes: Uint8Array, items = MOST_ITEMS): Record<string, unknown> {
  try {
    return readMessage(plan, bytes, { validated: false, items });
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw new InvalidAgentResponseError(`the message is no ${plan.typeName}: ${error.message}`, { cause: error });
  }
}

/**
 * Writes a request. If a value does not fit its field, `validate` throws all faults of the request.
 * @throws InvalidParamsError
 */
export function writeRequest(plan: MessagePlan, request: object, validate: () => void): Uint8Array {
  try {
    return writeMessage(plan, request);
  } catch (error) {
    if (!(error instanceof UnwritableValue)) throw error;
    validate();
    throw new InvalidParamsError([{ field: '', description: error.message }]);
  }
}
