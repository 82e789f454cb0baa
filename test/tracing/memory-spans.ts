import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, beforeEach, vi } from 'vitest';

/** The spans of a test file, kept in memory by an SDK of its own. */
export class MemorySpans {
  readonly #exporter = new InMemorySpanExporter();

  constructor(sampler?: Sampler) {
    beforeAll(() => {
      context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
      const spanProcessors = [new SimpleSpanProcessor({ exporter: this.#exporter })];
      trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors, ...(sampler && { sampler }) }));
    });
    beforeEach(() => this.#exporter.reset());
    afterAll(() => {
      context.disable();
      trace.disable();
    });
  }

  get all(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /** Resolves to the spans of a name once there are so many. */
  waitForSpans(name: string, count = 1): Promise<readonly ReadableSpan[]> {
    return vi.waitFor(() => {
      const found = this.all.filter((span) => span.name === name);
      if (found.length < count) throw new Error(`There is no ${name} among ${this.all.map((span) => span.name)}`);
      return found;
    }, 30_000);
  }
}
