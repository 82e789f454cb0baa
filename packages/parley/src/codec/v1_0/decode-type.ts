import type { A2AError } from '../../errors/a2a-error.js';
import { InvalidParamsError, tooDeep } from '../../errors/standard-errors.js';
import { MAX_NESTING, NESTED_TOO_DEEP } from '../../model/json-fault.js';
import { isValid, type ModelTypeName, type ModelTypes, type Violation, violationsOf } from '../../model/validation.js';
import { OPERATIONS, type OperationName, type OperationTypes } from '../../operations/operations.js';
import type { WireForm } from '../wire-codec.js';
import { toClosedForm } from './closed-form.js';

/**
 * Decodes a received value as a type of the model. A value in the closed form is returned as it is. Other forms that
 * ProtoJSON allows are converted. An absent value counts as an empty object.
 * @throws InvalidParamsError naming every field at fault; the field of a value that is no object is "". A2AError
 * INVALID_REQUEST for a value that is nested too deeply.
 */
export function decodeType<Name extends ModelTypeName>(
  type: Name,
  value: unknown,
  form: WireForm = 'json',
): ModelTypes[Name] {
  return isValid(type, value) ? value : convert(type, value, form);
}

function convert<Name extends ModelTypeName>(type: Name, value: unknown, form: WireForm): ModelTypes[Name] {
  const closed = toClosedForm(type, value ?? {}, form);
  if (isValid(type, closed)) return closed;
  throw refusalOf(violationsOf(type, closed));
}

/** The depth of values is a limit as any other, and not a fault of a field. */
function refusalOf(violations: readonly Violation[]): A2AError {
  const deep = violations.find(({ description }) => description === NESTED_TOO_DEEP);
  return deep === undefined ? new InvalidParamsError(violations) : tooDeep(MAX_NESTING, deep.field);
}

/** Decodes the request of an operation, as `decodeType` does. */
export function decodeRequest<Name extends OperationName>(
  operation: Name,
  value: unknown,
  form: WireForm = 'json',
): OperationTypes[Name]['request'] {
  const type = OPERATIONS[operation].request;
  return (isValid(type, value) ? value : convert(type, value, form)) as OperationTypes[Name]['request'];
}
