const DONE = { value: undefined, done: true } as const;

/** A stream that opens at its first read, so that an error of opening is an error of the stream. */
export function openLazily(
  open: () => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>,
): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]() {
      let opening: Promise<AsyncIterator<unknown>> | undefined;
      const opened = async () => (await open())[Symbol.asyncIterator]();
      return {
        next: async () => {
          opening ??= opened();
          return (await opening).next();
        },
        return: async () => {
          const items = await opening?.catch(() => undefined);
          return (await items?.return?.()) ?? DONE;
        },
      };
    },
  };
}
