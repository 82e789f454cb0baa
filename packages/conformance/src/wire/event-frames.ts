/** The data of the frames of an event stream, in order. Frames without data are keep-alives. */
export async function* eventFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of linesOf(body)) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || data.length === 0) continue;
    yield data.join('\n');
    data = [];
  }
  if (data.length > 0) yield data.join('\n');
}

/** The lines of a stream. Each character is read once, however small the chunks are. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let pieces: string[] = [];
  let endsInCr = false;
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    // A chunk may end between the two characters of a line break.
    const rest = endsInCr && text.startsWith('\n') ? text.slice(1) : text;
    endsInCr = text.endsWith('\r');
    const [first = '', ...lines] = rest.split(/\r\n|\n|\r/);
    pieces.push(first);
    for (const line of lines) {
      yield pieces.join('');
      pieces = [line];
    }
  }
  const last = pieces.join('');
  if (last !== '') yield last;
}
