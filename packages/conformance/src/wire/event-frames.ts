/** The data of the frames of an event stream, in order. Frames without data are keep-alives. */
export async function* eventFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let pending = '';
  let data: string[] = [];
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    // A chunk may end between the two characters of a line break.
    const lines = `${pending}${text}`.split(/\r\n|\n|\r(?=[^\n])/);
    pending = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      if (line !== '' || data.length === 0) continue;
      yield data.join('\n');
      data = [];
    }
  }
  if (pending.startsWith('data:')) data.push(pending.slice(pending[5] === ' ' ? 6 : 5));
  if (data.length > 0) yield data.join('\n');
}
