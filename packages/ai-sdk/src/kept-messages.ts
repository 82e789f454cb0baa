import type { FilePart, ImagePart, ModelMessage, ToolResultPart } from 'ai';
import { toBase64 } from 'parley-a2a/kit';

/**
 * Serializes the messages of a model as JSON. Bytes of files become base64, which the AI SDK accepts in the same
 * places. All other values become the JSON that a provider sends for them.
 * @throws TypeError for values without JSON, such as a bigint.
 */
export function keptText(messages: readonly ModelMessage[]): string {
  try {
    return JSON.stringify(messages.map((message) => withFiles(message, keptData)));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(
      `The messages of the model cannot be kept for a resumable answer: ${reason}. Give the model values of JSON.`,
      { cause },
    );
  }
}

/** Parses messages serialized by `keptText`. */
export function messagesIn(text: string): readonly ModelMessage[] {
  return (JSON.parse(text) as readonly ModelMessage[]).map((message) => withFiles(message, restoredData));
}

type ContentPart = Extract<ModelMessage['content'], readonly unknown[]>[number];
type ResultPart = Extract<ToolResultPart['output'], { readonly type: 'content' }>['value'][number];
type Data = FilePart['data'] | ImagePart['image'];
type Change = (data: Data) => Data;

/** The message with changed data in all its files. Other places contain JSON, even if it looks like a file. */
function withFiles(message: ModelMessage, change: Change): ModelMessage {
  const { content } = message;
  if (typeof content === 'string') return message;
  return { ...message, content: content.map((part: ContentPart) => changedPart(part, change)) } as ModelMessage;
}

function changedPart(part: ContentPart | ResultPart, change: Change): unknown {
  if (part.type === 'file' || part.type === 'reasoning-file') return { ...part, data: change(part.data) };
  if (part.type === 'image') return { ...part, image: change(part.image) };
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  return { ...part, output: { ...part.output, value: part.output.value.map((item) => changedPart(item, change)) } };
}

function keptData(data: Data): Data {
  if (ArrayBuffer.isView(data)) return toBase64(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  if (data instanceof ArrayBuffer) return toBase64(new Uint8Array(data));
  if (!isTagged(data, 'data')) return data;
  return { type: 'data', data: keptData(data.data) as string };
}

/** The AI SDK parses a string as a url only if the data is untagged. */
function restoredData(data: Data): Data {
  return isTagged(data, 'url') ? { ...data, url: URL.parse(String(data.url)) ?? data.url } : data;
}

function isTagged<Tag extends 'data' | 'url'>(
  data: Data,
  tag: Tag,
): data is Extract<Data, { readonly type: Tag; readonly data?: unknown }> {
  return typeof data === 'object' && 'type' in data && data.type === tag;
}
