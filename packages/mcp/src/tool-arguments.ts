import type { JsonValue, Part } from 'parley-a2a';
import type { OutgoingMessage } from 'parley-a2a/client';
import { isBase64, isObject, jsonFault } from 'parley-a2a/kit';

/** A call of a tool, as the agent gets it. */
export interface ToolArguments {
  /** Absent: the call waits for a task and sends nothing. */
  readonly message: OutgoingMessage | undefined;
  readonly taskId: string | undefined;
}

/** The input of each tool, as JSON Schema. */
export const INPUT_SCHEMA = {
  type: 'object' as const,
  properties: {
    message: {
      type: 'string',
      description: 'What the agent is to do, or the answer to its question. May be absent if there is data or a file.',
    },
    contextId: { type: 'string', description: 'The contextId of an earlier result, to go on with that conversation.' },
    taskId: {
      type: 'string',
      description:
        'The taskId of an earlier result: answers the question of that task. Without a message, waits for the task.',
    },
    data: { description: 'Structured input: any JSON value.' },
    files: {
      type: 'array',
      description: 'Files, each by its bytes or by its url.',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The file name.' },
          mediaType: { type: 'string', description: 'The media type, such as image/png.' },
          bytes: { type: 'string', description: 'The content as base64.' },
          url: { type: 'string', description: 'The address of the content.' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};

const MEMBERS: readonly string[] = Object.keys(INPUT_SCHEMA.properties);
const FILES = 50;
const ID_LENGTH = 1_000;

/** Thrown for arguments that a tool does not take. The message names the member. */
export class ArgumentsError extends Error {
  override readonly name = 'ArgumentsError';
}

/**
 * Reads the arguments of a call.
 * @throws ArgumentsError
 */
export function toolArguments(given: unknown, skillId: string | undefined): ToolArguments {
  const input = given ?? {};
  if (!isObject(input)) throw new ArgumentsError('The arguments must be an object');
  for (const name in input)
    if (!MEMBERS.includes(name))
      throw new ArgumentsError(`${JSON.stringify(name.slice(0, 100))} is not known; known are ${MEMBERS.join(', ')}`);
  const text = optionalText(input.message, 'message');
  const taskId = optionalId(input.taskId, 'taskId');
  const contextId = optionalId(input.contextId, 'contextId');
  const parts: Part[] = [
    ...(text === undefined || text === '' ? [] : [{ text }]),
    ...(input.data === undefined ? [] : [dataPart(input.data)]),
    ...files(input.files),
  ];
  if (parts.length === 0) {
    if (taskId === undefined) throw new ArgumentsError('message is missing');
    return { message: undefined, taskId };
  }
  return {
    taskId,
    message: {
      parts,
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
      ...(skillId !== undefined && { metadata: { skillId } }),
    },
  };
}

function optionalText(value: unknown, name: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw new ArgumentsError(`${name} must be a text`);
  return value.toWellFormed();
}

function optionalId(value: unknown, name: string): string | undefined {
  const id = optionalText(value, name);
  if (id !== undefined && id.length > ID_LENGTH) throw new ArgumentsError(`${name} is too long`);
  return id === '' ? undefined : id;
}

function dataPart(data: unknown): Part {
  const fault = jsonFault(data);
  if (fault !== undefined) throw new ArgumentsError(`data ${fault}`);
  return { data: data as JsonValue };
}

function files(value: unknown): readonly Part[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new ArgumentsError('files must be a list');
  if (value.length > FILES) throw new ArgumentsError(`files has more than ${FILES} entries`);
  return value.map((file: unknown, index) => filePart(file, `files[${index}]`));
}

function filePart(file: unknown, path: string): Part {
  if (!isObject(file)) throw new ArgumentsError(`${path} must be an object`);
  const filename = optionalText(file.name, `${path}.name`);
  const mediaType = optionalText(file.mediaType, `${path}.mediaType`);
  const bytes = optionalText(file.bytes, `${path}.bytes`);
  const url = optionalText(file.url, `${path}.url`);
  const about = { ...(filename !== undefined && { filename }), ...(mediaType !== undefined && { mediaType }) };
  if ((bytes === undefined) === (url === undefined)) throw new ArgumentsError(`${path} needs either bytes or url`);
  if (url !== undefined) {
    if (!URL.canParse(url)) throw new ArgumentsError(`${path}.url is no url`);
    return { url, ...about };
  }
  if (bytes === undefined || !isBase64(bytes)) throw new ArgumentsError(`${path}.bytes is no base64`);
  return { raw: bytes, ...about };
}
