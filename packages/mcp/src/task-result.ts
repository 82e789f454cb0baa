import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import type { JsonValue, Part, SendMessageResponse, TaskState } from 'parley-a2a';
import { joinParts, TOOLS_EXTENSION } from 'parley-a2a/kit';
import { oneLine, shortenText } from './bounded-text.js';

/** The structured content of each result, as JSON Schema. */
export const OUTPUT_SCHEMA = {
  type: 'object' as const,
  properties: {
    text: { type: 'string', description: 'The text of the answer.' },
    state: { type: 'string', description: 'The state of the task, such as TASK_STATE_COMPLETED.' },
    taskId: { type: 'string' },
    contextId: { type: 'string', description: 'Give it to the next call to go on with the conversation.' },
    data: { type: 'array', description: 'Structured output: one entry for each data part.' },
    files: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, mediaType: { type: 'string' }, url: { type: 'string' } },
      },
    },
  },
  required: ['text'],
};

/** Keys of `_meta` in each result. */
export const TASK_ID_META = 'parley-a2a/taskId';
export const CONTEXT_ID_META = 'parley-a2a/contextId';

/** Makes the result of an answer. Content beyond so many bytes is left out, and a note says so. */
export function resultOf(answer: SendMessageResponse, resultBytes: number): CallToolResult {
  if (answer.message !== undefined) {
    const { message } = answer;
    return boundedResult(message.parts, resultBytes, { contextId: message.contextId });
  }
  const { id: taskId, contextId, status, artifacts = [] } = answer.task;
  const { state } = status;
  const ofStatus = status.message?.parts ?? [];
  // Records of tool calls are not part of the answer.
  const answers = artifacts.filter(({ extensions = [] }) => !extensions.includes(TOOLS_EXTENSION));
  const ofArtifacts = answers.flatMap(({ parts }) => joinParts(parts));
  // A closing message such as "done" adds nothing to the artifacts.
  const parts =
    state === 'TASK_STATE_COMPLETED' && ofArtifacts.length > 0 ? ofArtifacts : [...ofArtifacts, ...ofStatus];
  return boundedResult(parts, resultBytes, { taskId, contextId, state });
}

/** A result for a call that failed. */
export function failedResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

interface ResultIds {
  readonly taskId?: string;
  readonly contextId?: string | undefined;
  readonly state?: TaskState;
}

interface ListedFile {
  readonly name?: string;
  readonly mediaType?: string;
  readonly url?: string;
}

function boundedResult(parts: readonly Part[], resultBytes: number, ids: ResultIds): CallToolResult {
  const { taskId, contextId, state } = ids;
  const content: ContentBlock[] = [];
  const texts: string[] = [];
  const data: JsonValue[] = [];
  const files: ListedFile[] = [];
  let room = resultBytes;
  let leftOut = 0;
  for (const part of parts) {
    const bytes = sizeOf(part);
    if (bytes > room) {
      leftOut += 1;
      if (part.text === undefined) continue;
    }
    if (part.text !== undefined) {
      const text = bytes > room ? shortenText(part.text.slice(0, room), room) : part.text;
      if (text === '') continue;
      texts.push(text);
      content.push({ type: 'text', text });
    } else if (part.data !== undefined) {
      data.push(part.data);
      content.push({ type: 'text', text: JSON.stringify(part.data) });
    } else {
      files.push(fileOf(part));
      content.push(fileBlock(part));
    }
    room = Math.max(0, room - bytes);
  }
  const notes = [...(leftOut > 0 ? [leftOutNote(leftOut, taskId)] : []), ...stateNotes(state, taskId)];
  for (const text of notes) content.push({ type: 'text', text });
  return {
    content,
    structuredContent: {
      text: texts.join('\n'),
      ...(state !== undefined && { state }),
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
      ...(data.length > 0 && { data }),
      ...(files.length > 0 && { files }),
    },
    _meta: {
      ...(taskId !== undefined && { [TASK_ID_META]: taskId }),
      ...(contextId !== undefined && { [CONTEXT_ID_META]: contextId }),
    },
    ...(isFailure(state) && { isError: true }),
  };
}

function isFailure(state: TaskState | undefined): boolean {
  return state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED' || state === 'TASK_STATE_CANCELED';
}

function leftOutNote(count: number, taskId: string | undefined): string {
  const parts = count === 1 ? 'One part of the answer is' : `${count} parts of the answer are`;
  return `${parts} too large for this result${taskId === undefined ? '.' : `; the whole answer is in task ${taskId}.`}`;
}

/** Instructions for the caller of a tool about the next step. */
function stateNotes(state: TaskState | undefined, taskId: string | undefined): readonly string[] {
  const again = `call this tool again with "taskId": ${JSON.stringify(taskId)}`;
  switch (state) {
    case 'TASK_STATE_INPUT_REQUIRED':
      return [`The agent asks for input. To answer, ${again} and the answer as "message".`];
    case 'TASK_STATE_AUTH_REQUIRED':
      return [`The agent waits for an authorization. Once it is given, ${again} and no message.`];
    case 'TASK_STATE_UNSPECIFIED':
    case 'TASK_STATE_SUBMITTED':
    case 'TASK_STATE_WORKING':
      return [`The task goes on. To wait for it, ${again} and no message.`];
    case 'TASK_STATE_FAILED':
      return ['The task failed.'];
    case 'TASK_STATE_REJECTED':
      return ['The agent rejected the task.'];
    case 'TASK_STATE_CANCELED':
      return ['The task was canceled.'];
    case 'TASK_STATE_COMPLETED':
    case undefined:
      return [];
  }
}

type FilePart = Exclude<Part, { readonly text: string } | { readonly data: JsonValue }>;

function fileOf(part: FilePart): ListedFile {
  const { filename, mediaType } = part;
  return {
    ...(filename !== undefined && { name: oneLine(filename, 200) }),
    ...(mediaType !== undefined && { mediaType }),
    ...(part.url !== undefined && { url: part.url }),
  };
}

function fileBlock(part: FilePart): ContentBlock {
  const { filename = 'file', mediaType } = part;
  const name = oneLine(filename, 200) || 'file';
  const typed = mediaType === undefined ? {} : { mimeType: mediaType };
  if (part.url !== undefined) {
    // A client may open a link, so only http and https urls are offered.
    const isWeb = /^https?:\/\//i.test(part.url) && URL.canParse(part.url);
    return isWeb
      ? { type: 'resource_link', uri: part.url, name, ...typed }
      : { type: 'text', text: `${name}: ${shortenText(part.url, 2_000)}` };
  }
  const { raw: data } = part;
  if (mediaType?.startsWith('image/')) return { type: 'image', data, mimeType: mediaType };
  if (mediaType?.startsWith('audio/')) return { type: 'audio', data, mimeType: mediaType };
  return { type: 'resource', resource: { uri: `attachment:${encodeURIComponent(name)}`, blob: data, ...typed } };
}

function sizeOf(part: Part): number {
  if (part.text !== undefined) return bytesOf(part.text);
  if (part.raw !== undefined) return part.raw.length;
  return bytesOf(part.url !== undefined ? part.url : JSON.stringify(part.data));
}

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  return encoder.encode(text).length;
}
