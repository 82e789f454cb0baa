import type { Part } from 'parley-a2a';
import { joinParts } from 'parley-a2a/client';
import { LABELS } from './labels.js';
import type { Output } from './output.js';
import { isToolData, writeToolCalls } from './tool-text.js';

/** Prints the parts of an artifact. Chunks of a text become one block, except parts with metadata in verbose output. */
export function writeArtifactParts(output: Output, parts: readonly Part[]): void {
  const showsMetadata = output.verbose && parts.some(({ metadata }) => metadata !== undefined);
  writeParts(output, showsMetadata ? parts : joinParts(parts), LABELS.text);
}

/** Prints parts: texts and data as blocks, files by name, media type and size, tool calls as lines. */
export function writeParts(output: Output, parts: readonly Part[], textLabel: string): void {
  const calls = output.verbose ? [] : parts.filter(isToolData);
  if (calls.length > 0) writeToolCalls(output, calls);
  for (const part of calls.length > 0 ? parts.filter((part) => !isToolData(part)) : parts) {
    if (part.text !== undefined) output.block(textLabel, part.text);
    else if (part.data !== undefined) output.block(LABELS.data, JSON.stringify(part.data, undefined, 2));
    else output.field(LABELS.file, fileLine(part));
    if (output.verbose && part.metadata !== undefined) output.field(LABELS.metadata, JSON.stringify(part.metadata));
  }
}

/** Describes a file in one line. */
export function fileLine(part: Extract<Part, { raw: string } | { url: string }>): string {
  const described = [part.filename, part.mediaType];
  const place = part.raw !== undefined ? countBytes(bytesOf(part.raw)) : part.url;
  return [...described, place].filter((piece) => piece !== undefined && piece !== '').join(', ');
}

function bytesOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}

function countBytes(bytes: number): string {
  return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
}
