import { LongText } from '../../net/frame-parser.js';
import type { Clock } from '../../runtime/clock.js';

/** A body that is refused. `status`: that of the answer. */
export class RefusedBody extends Error {
  override readonly name = 'RefusedBody';
  readonly status: 400 | 408 | 413;

  constructor(status: 400 | 408 | 413, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Reads a body as text in UTF-8.
 * @throws RefusedBody if it is longer than `bytes`, is not complete after `ms`, or breaks off.
 */
export async function boundedText(
  chunks: AsyncIterator<Uint8Array>,
  { bytes, ms, clock }: { readonly bytes: number; readonly ms: number; readonly clock: Clock },
): Promise<string> {
  let fail = (_: RefusedBody): void => {};
  const disarm = clock.after(ms, () => fail(new RefusedBody(408, `the body did not arrive within ${ms / 1000} s`)));
  // A single promise for the whole race would keep a reaction for each chunk.
  const nextOf = () =>
    new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      fail = reject;
      chunks.next().catch(brokenOff).then(resolve, reject);
    });
  const decoder = new TextDecoder();
  const text = new LongText();
  try {
    for (let read = 0; ; ) {
      const { done, value } = await nextOf();
      if (done === true) return text.take(decoder.decode());
      read += value.length;
      if (read > bytes) throw new RefusedBody(413, `the body has more than ${bytes} bytes`);
      text.add(decoder.decode(value, { stream: true }));
    }
  } finally {
    disarm();
    chunks.return?.().catch(() => {});
  }
}

function brokenOff(): never {
  throw new RefusedBody(400, 'the body broke off');
}
