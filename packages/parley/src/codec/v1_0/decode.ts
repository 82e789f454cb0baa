import { InvalidParamsError } from '../../errors/standard-errors.js';
import { isValid, type ModelTypeName, type ModelTypes, violationsOf } from '../../model/validation.js';
import { OPERATIONS, type OperationName, type OperationTypes } from '../../operations/operations.js';
import type { WireForm } from '../wire-codec.js';
import { toClosedForm } from './lenient.js';

/**
 * A value of the wire as a type of the model: taken as it is if it already has the closed form, converted if ProtoJSON allows the
 * form it has. An absent value counts as an empty object; a value that is no object is a violation of the field "".
 * @throws InvalidParamsError naming every field at fault.
 */
export function decodeType<Name extends ModelTypeName>(
  type: Name,
  value: unknown,
  form: WireForm = 'json',
): ModelTypes[Name] {
  if (isValid(type, value)) return value;
  const closed = toClosedForm(type, value ?? {}, form);
  if (isValid(type, closed)) return closed;
  throw new InvalidParamsError(violationsOf(type, closed));
}

/** The request of an operation; see `decodeType`. */
export function decodeRequest<Name extends OperationName>(
  operation: Name,
  value: unknown,
  form?: WireForm,
): OperationTypes[Name]['request'] {
  return decodeType(OPERATIONS[operation].request, value, form) as OperationTypes[Name]['request'];
}
