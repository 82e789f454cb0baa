import type { Artifact, AuthenticationInfo, Message, Part, RawPart, Task, TextPart, UrlPart } from 'parley-a2a';
import type { IdSource } from 'parley-a2a/server';

/** The time of every status that these functions make. */
const TEST_TIME = '2026-01-01T00:00:00.000Z';

/** The source of missing ids. */
export interface TestIdOptions {
  /** Default: random ids. `new CountingIds()` gives the same ids in every run. */
  readonly ids: IdSource;
}

/** The content of a file part: base64, bytes or a url. */
export type TestFile = Pick<RawPart, 'metadata' | 'filename' | 'mediaType'> &
  ({ readonly raw?: string } | { readonly bytes: Uint8Array } | { readonly url: string });

/** A part with a text. */
export function textPart(text = 'test', overrides: Partial<Omit<TextPart, 'text'>> = {}): TextPart {
  return { text, ...overrides };
}

/** A part with a file: four bytes of text, if there are no others. */
export function filePart(file: TestFile = {}): RawPart | UrlPart {
  const about = { filename: 'test.txt', mediaType: 'text/plain' };
  if ('url' in file) return { ...about, ...file };
  if (!('bytes' in file)) return { raw: base64Of(new TextEncoder().encode('test')), ...about, ...file };
  const { bytes, ...others } = file;
  return { raw: base64Of(bytes), ...about, ...others };
}

/** A message of the user. */
export function messageOf(overrides: Partial<Message>, { ids }: TestIdOptions): Message {
  return { messageId: ids.random(), role: 'ROLE_USER', parts: [textPart()], ...overrides };
}

/** Messages of one context, a text each. */
export function messagesOf(texts: number | readonly string[], overrides: Partial<Message>, options: TestIdOptions) {
  const list = typeof texts === 'number' ? Array.from({ length: texts }, (_, at) => `test ${at + 1}`) : texts;
  const contextId = overrides.contextId ?? options.ids.ordered();
  return list.map((text) => messageOf({ contextId, parts: [textPart(text)], ...overrides }, options));
}

/** An artifact with a text. */
export function artifactOf(overrides: Partial<Artifact>, { ids }: TestIdOptions): Artifact {
  return { artifactId: ids.random(), name: 'test', parts: [textPart()], ...overrides };
}

/** Messages of the task get its ids. */
export function taskOf(overrides: Partial<Task>, options: TestIdOptions): Task {
  const { ids } = options;
  const { id = ids.ordered(), contextId = ids.ordered() } = overrides;
  return {
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: TEST_TIME },
    history: [messageOf({ taskId: id, contextId }, options)],
    ...overrides,
    id,
    contextId,
  };
}

/** Credentials for a webhook. */
export function authCredentials(overrides: Partial<AuthenticationInfo> = {}): AuthenticationInfo {
  return { scheme: 'Bearer', credentials: 'test-token', ...overrides };
}

/** A message with the given parts. */
export function messageWithParts(parts: readonly Part[], overrides: Partial<Message>, options: TestIdOptions): Message {
  return messageOf({ ...overrides, parts: [...parts] }, options);
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
