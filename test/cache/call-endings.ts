/** The end of a call. `late`: not within its time. */
export type Ending = 'answered' | 'failed' | 'late';

/** Time limit of a call that uses the cache, in ms. */
const AT_MOST_MS = 100;

/**
 * The end of a call that may take `ms`. The event loop that runs the call also measures it. A busy machine delays both,
 * so it makes no call late.
 */
export function endingOf(call: Promise<unknown>, ms = AT_MOST_MS): Promise<Ending> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(() => setImmediate(resolve, 'late')), ms);
    call
      .then(
        () => resolve('answered'),
        () => resolve('failed'),
      )
      .finally(() => clearTimeout(timer));
  });
}

/** Makes calls one after the other until `stop`. Each has the time limit `ms`. */
export function endingsWhile(call: () => Promise<unknown>, ms = AT_MOST_MS) {
  const endings: Ending[] = [];
  let stopping = false;
  let tell = () => {};
  const run = async () => {
    while (!stopping) {
      endings.push(await endingOf(call(), ms));
      tell();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const done = run();
  return {
    /** Resolves after `count` more calls. */
    async more(count: number): Promise<void> {
      for (const goal = endings.length + count; endings.length < goal; ) {
        await new Promise<void>((resolve) => {
          tell = resolve;
        });
      }
    },
    /** Stops the calls. Resolves to the kinds of their ends. */
    async stop(): Promise<ReadonlySet<Ending>> {
      stopping = true;
      await done;
      return new Set(endings);
    },
  };
}
