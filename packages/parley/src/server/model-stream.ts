/** The members of a `streamText` result of the AI SDK, version 5 or later, that an agent reads. */
export interface ModelStream<Part extends StreamedPart = StreamedPart> {
  readonly fullStream: AsyncIterable<Part>;
}

/** One part of the stream of a model. */
export interface StreamedPart {
  readonly type: string;
}

/**
 * Returns the parts of a model's answer. They end early if the agent is aborted.
 * @throws the error of the model. The `textStream` of the AI SDK drops that error and only ends.
 * @throws Error for a stream that ends without a finish of the model: its answer may be incomplete.
 */
export async function* modelParts<Part extends StreamedPart>(
  parts: AsyncIterable<Part>,
  signal: AbortSignal,
): AsyncGenerator<Part> {
  let isStepMadeUp = false;
  let hasFinished = false;
  for await (const part of parts) {
    if (part.type === 'finish-step') isStepMadeUp = isMadeUp(part);
    else if (part.type === 'finish') hasFinished = !isStepMadeUp;
    if (part.type === 'error') {
      throw 'error' in part ? part.error : new Error('The model failed');
    } else if (part.type === 'abort') {
      if (signal.aborted) return;
      throw new Error(`The call of the model was aborted${'reason' in part ? `: ${String(part.reason)}` : ''}`);
    } else yield part;
  }
  if (!hasFinished && !signal.aborted) throw new Error('The stream of the model ended without a finish');
}

/**
 * True if a model ended its step without a finish. The AI SDK then adds one without a reason of the model and without a
 * number of tokens.
 */
function isMadeUp(step: object): boolean {
  const { finishReason, rawFinishReason, usage } = step as Record<string, unknown>;
  const { inputTokens, outputTokens } = (usage ?? {}) as Record<string, unknown>;
  const isNamed = rawFinishReason !== undefined || (finishReason !== 'other' && finishReason !== 'unknown');
  return !isNamed && inputTokens === undefined && outputTokens === undefined;
}

/**
 * Returns the text of a model, delta by delta. It ends early if the agent is aborted.
 * @throws the error of the model.
 */
export async function* modelText({ fullStream }: ModelStream, signal: AbortSignal): AsyncGenerator<string> {
  for await (const part of modelParts(fullStream, signal)) {
    if (part.type !== 'text-delta') continue;
    const text = textOf(part);
    if (text !== '') yield text;
  }
}

function textOf(part: object): string {
  if ('text' in part && typeof part.text === 'string') return part.text;
  throw new Error('The stream of the model has no text in its deltas. Use version 5 or later of the AI SDK');
}
