/** The observer of a stream. One of `ended` and `failed` is called, once. */
export interface StreamObserver<Item> {
  /** Runs a read of the source, so that what it starts belongs to the span of the stream. */
  run<Result>(read: () => Result): Result;
  item(item: Item): void;
  ended(): void;
  failed(error: unknown): void;
}

/** The same stream, whose course an observer learns. */
export function tracedStream<Item>(source: AsyncIterable<Item>, observer: StreamObserver<Item>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const items = source[Symbol.asyncIterator]();
      let isOver = false;
      const over = (tell: () => void) => {
        if (!isOver) tell();
        isOver = true;
      };
      return {
        async next() {
          try {
            const result = await observer.run(() => items.next());
            if (result.done === true) over(observer.ended);
            else observer.item(result.value);
            return result;
          } catch (error) {
            over(() => observer.failed(error));
            throw error;
          }
        },
        async return(value?: unknown) {
          over(observer.ended);
          return (await items.return?.(value)) ?? { done: true, value };
        },
      };
    },
  };
}
