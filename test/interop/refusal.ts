/** Why a call was refused, as the official JavaScript client tells it. */
export interface Refusal {
  /** The reason of the error's ErrorInfo. */
  readonly reason: string | undefined;
  /** Fields that were named. */
  readonly fields: readonly string[];
  readonly message: string;
}

interface Detail {
  readonly '@type'?: string;
  readonly reason?: string;
  readonly fieldViolations?: readonly { readonly field: string }[];
}

/** Waits for a call, or a whole stream, to be refused; rejects if it is not. */
export async function refusalOf(call: Promise<unknown> | AsyncIterable<unknown>): Promise<Refusal> {
  try {
    if (Symbol.asyncIterator in call) for await (const _ of call);
    else await call;
  } catch (error) {
    return read(error);
  }
  throw new Error('the call was not refused');
}

function read(error: unknown): Refusal {
  const told = error as { reason?: string; message: string; cause?: unknown; data?: unknown; details?: unknown };
  const details = [told.data, told.details].flatMap((list) => (Array.isArray(list) ? (list as Detail[]) : []));
  const inner = told.cause === undefined ? undefined : read(told.cause);
  return {
    reason: details.find(({ reason }) => reason !== undefined)?.reason ?? told.reason ?? inner?.reason,
    fields: details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field)),
    message: told.message,
  };
}
