import type { A2AError } from '../../errors/a2a-error.js';
import { isObject } from '../../model/json.js';
import { codeOfNumber } from '../http/error-numbers.js';
import { answeredError, codeOfStatus, saidDetails, saidMessage } from '../http/received-answer.js';

/** The error of a response, found by its reason, then by its number (Spec §9.5), then by the status. */
export function errorOf(response: Response, error: unknown): A2AError {
  const { code: number, data } = isObject(error) ? error : {};
  const message = saidMessage(error);
  const said = saidDetails(data);
  const known = said.code ?? codeOfNumber(number);
  if (known !== undefined) return answeredError(response, { code: known, message, details: said.details });
  // A gateway before the agent answers in its own form: its status decides.
  if (!response.ok)
    return answeredError(response, { code: codeOfStatus(response.status), message, details: said.details });
  const metadata = { ...said.details.metadata, ...(number !== undefined && { jsonRpcCode: String(number) }) };
  return answeredError(response, { code: 'INTERNAL_ERROR', message, details: { ...said.details, metadata } });
}
