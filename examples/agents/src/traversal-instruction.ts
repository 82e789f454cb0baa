import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import type { Part } from 'parley-a2a';
import { traversalInstruction } from './traversal-descriptors.generated.js';

/** One step of a traversal, as the ProtoJSON of `proto/traversal/instruction.proto`. It has exactly one member. */
export interface Instruction {
  readonly callAgent?: CallAgent;
  readonly returnResponse?: { readonly response?: string; readonly holdTask?: boolean };
  readonly steps?: { readonly instructions?: readonly Instruction[] };
}

/** A call of another agent. Without a behaviour it sends a message. */
export interface CallAgent {
  readonly transport?: string;
  readonly agentCardUri?: string;
  readonly instruction?: Instruction;
  readonly streaming?: boolean;
  readonly sendMessage?: object;
  readonly pushNotification?: { readonly url?: string };
  readonly resubscribe?: object;
}

const MEDIA_TYPE = 'application/x-protobuf';
const FILE = 'instruction.bin';

/** The part that carries an instruction. */
export function instructionPart(instruction: Instruction): Part {
  const bytes = toBinary(schema(), fromJson(schema(), instruction as JsonValue));
  return { raw: Buffer.from(bytes).toString('base64'), mediaType: MEDIA_TYPE, filename: FILE };
}

/**
 * The instruction of a message: bytes of its media type or file name, or base64 in a text.
 * @throws Error if no part has one.
 */
export function instructionOf(parts: readonly Part[]): Instruction {
  for (const part of parts) {
    const base64 =
      part.raw !== undefined
        ? isMarked(part)
          ? part.raw
          : undefined
        : part.text !== undefined
          ? part.text
          : undefined;
    const instruction = base64 === undefined ? undefined : decoded(Buffer.from(base64, 'base64'));
    if (instruction !== undefined) return instruction;
  }
  throw new Error('The message has no instruction');
}

function isMarked({ mediaType, filename }: Part): boolean {
  return mediaType === MEDIA_TYPE || filename === FILE;
}

function decoded(bytes: Uint8Array): Instruction | undefined {
  try {
    const instruction = toJson(schema(), fromBinary(schema(), bytes)) as Instruction;
    return Object.keys(instruction).length === 0 ? undefined : instruction;
  } catch {
    return undefined;
  }
}

/** True if an instruction, or one inside of it, keeps its task open after the work. */
export function holdsTask({ returnResponse, steps, callAgent }: Instruction): boolean {
  if (returnResponse?.holdTask === true) return true;
  const inner = [...(steps?.instructions ?? []), ...(callAgent?.instruction ? [callAgent.instruction] : [])];
  return inner.some(holdsTask);
}

function schema(): DescMessage {
  const message = traversalInstruction.messages.find(({ name }) => name === 'Instruction');
  if (message === undefined) throw new Error('Instruction has no descriptor');
  return message;
}
