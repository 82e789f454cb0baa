import type { A2AError } from '../../errors/a2a-error.js';
import { isObject } from '../../model/json.js';
import { codeOfNumber } from '../http/error-numbers.js';
import { answeredError, codeOfStatus, readDetails } from '../http/received-answer.js';

/** The error of a response, found by its reason, then by its number (Spec §9.5), then by the status. */
export function errorOf(response: Response, said: unknown): A2AError {
  const { code: number, data } = isObject(said) ? said : {};
  const { code: reason, details } = readDetails(data);
  const known = reason ?? codeOfNumber(number);
  if (known !== undefined) return answeredError(response, { code: known, said, details });
  // A gateway before the agent answers in its own form, so its status decides.
  if (!response.ok) return answeredError(response, { code: codeOfStatus(response.status), said, details });
  const metadata = { ...details.metadata, ...(number !== undefined && { jsonRpcCode: String(number) }) };
  return answeredError(response, { code: 'INTERNAL_ERROR', said, details: { ...details, metadata } });
}
