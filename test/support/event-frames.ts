/** One frame of an event stream; a comment has no data. */
export interface EventFrame {
  readonly id: number | undefined;
  readonly data: string | undefined;
}

/** The frames of an answer as they arrive. An incomplete last frame is dropped. */
export async function* eventFrames({ body }: Response): AsyncGenerator<EventFrame> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const id = /^id: ?(\d+)$/m.exec(frame)?.[1];
      yield { id: id === undefined ? undefined : Number(id), data: /^data: ?(.*)$/m.exec(frame)?.[1] };
    }
  }
}
