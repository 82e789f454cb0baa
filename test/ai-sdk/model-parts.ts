import { convertArrayToReadableStream, type MockLanguageModelV4 } from 'ai/test';

type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>;

/** One part of the stream of a mock model. */
export type ModelPart = Streamed['stream'] extends ReadableStream<infer Part> ? Part : never;

type Finish = Extract<ModelPart, { readonly type: 'finish' }>;

/** A text in these deltas. */
export function text(deltas: readonly string[], id = 't'): ModelPart[] {
  return [
    { type: 'text-start', id },
    ...deltas.map((delta): ModelPart => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
  ];
}

/** The end of an answer, with 3 tokens in and 7 out. */
export function finish(unified: Finish['finishReason']['unified'] = 'stop'): ModelPart {
  return {
    type: 'finish',
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 7, text: 7, reasoning: undefined },
    },
  };
}

/** An answer of a mock model: one step. */
export function step(...parts: readonly (ModelPart | readonly ModelPart[])[]): Streamed {
  return { stream: convertArrayToReadableStream([{ type: 'stream-start', warnings: [] }, ...parts.flat()]) };
}

/** A call of a tool. */
export function toolCall(toolCallId: string, toolName: string, input: object): ModelPart {
  return { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) };
}
