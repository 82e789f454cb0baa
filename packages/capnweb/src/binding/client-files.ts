import { isObject } from 'parley-a2a/kit';
import { bytesOf, chunksOf } from './wire-values.js';

/** A file of an artifact. */
export interface TaskFile {
  readonly artifactId: string;
  readonly filename: string | undefined;
  readonly mediaType: string | undefined;
  /** Read it, or cancel it. It ends with its connection. */
  readonly content: ReadableStream<Uint8Array>;
}

/** Keeps a session until the returned function is called. */
type Hold = (ended: () => void) => () => void;

/** The files in a received task. The session stays open until their streams have ended. */
export function streamedFiles(task: unknown, hold: Hold): readonly TaskFile[] {
  return membersOf(task, 'artifacts').flatMap((artifact) =>
    membersOf(artifact, 'parts').flatMap((part) => {
      const { raw, filename, mediaType } = part;
      const content = contentOf(raw, hold);
      if (content === undefined) return [];
      return { artifactId: String(artifact.artifactId), filename: text(filename), mediaType: text(mediaType), content };
    }),
  );
}

function membersOf(value: unknown, name: string): readonly Record<string, unknown>[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function contentOf(raw: unknown, hold: Hold): ReadableStream<Uint8Array> | undefined {
  if (typeof raw === 'string') return chunksOf(bytesOf(raw));
  if (raw instanceof Uint8Array) return chunksOf(raw);
  return raw instanceof ReadableStream ? holdUntilEnd(raw, hold) : undefined;
}

/** The same stream, which keeps the session open until its end. */
function holdUntilEnd(stream: ReadableStream<unknown>, hold: Hold): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  const release = hold(() => {});
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (!done && value instanceof Uint8Array) return controller.enqueue(value.slice());
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        release();
      },
      cancel: async (reason) => {
        release();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
