import type { WireCodec } from '../../codec/wire-codec.js';
import type { A2AError } from '../../errors/a2a-error.js';
import { isLegacy } from '../../operations/versions.js';
import { errorNumber, errorStatus } from '../http/error-numbers.js';
import { eventFrame } from '../http/sse-stream.js';
import { errorDetails, errorWords } from '../http/wire-error.js';

/**
 * The body of an error answer (Spec §11.6), in the words of the version. The specification had no such body before 1.0:
 * clients of that time look for number and message at the top.
 */
export function errorBody(error: A2AError, codec: WireCodec | undefined): string {
  const { http, name } = errorStatus(error);
  const { reason, message } = errorWords(error, codec);
  const details = errorDetails(error, reason);
  return JSON.stringify(
    codec !== undefined && isLegacy(codec.version)
      ? { code: errorNumber(error.code), message, data: details }
      : { error: { code: http, status: name, message, details } },
  );
}

/** An error as the last frame of a stream. Before 1.0 the name of the event marks an error. */
export function errorFrame(error: A2AError, codec: WireCodec): string {
  const frame = eventFrame(errorBody(error, codec));
  return isLegacy(codec.version) ? `event: error\n${frame}` : frame;
}
