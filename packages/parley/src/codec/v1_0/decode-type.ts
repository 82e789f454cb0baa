import { InvalidParamsError } from '../../errors/standard-errors.js';
import { isValid, type ModelTypeName, type ModelTypes, violationsOf } from '../../model/validation.js';
import { OPERATIONS, type OperationName, type OperationTypes } from '../../operations/operations.js';
import type { WireForm } from '../wire-codec.js';
import { toClosedForm } from './closed-form.js';

/**
 * Decodes a received value as a type of the model. A value in the closed form is returned as it is. Other forms that
 * ProtoJSON allows are converted. An absent value counts as an empty object.
 * @throws InvalidParamsError naming every field at fault. The field of a value that is no object is "".
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

/** Decodes the request of an operation, as `decodeType` does. */
export function decodeRequest<Name extends OperationName>(
  operation: Name,
  value: unknown,
  form?: WireForm,
): OperationTypes[Name]['request'] {
  return decodeType(OPERATIONS[operation].request, value, form) as OperationTypes[Name]['request'];
}
