import type { Part } from 'parley-a2a';
import { LABELS } from './labels.js';
import type { Output } from './output.js';

/** Shows parts: texts and data as blocks, files by name, media type and size. None is left out. */
export function writeParts(output: Output, parts: readonly Part[], textLabel: string = LABELS.text): void {
  for (const part of joinedTexts(parts, { keepMetadata: output.verbose })) {
    if ('text' in part) output.block(textLabel, part.text);
    else if ('data' in part) output.block(LABELS.data, JSON.stringify(part.data, undefined, 2));
    else output.field(LABELS.file, fileLine(part));
    if (output.verbose && part.metadata !== undefined) output.field(LABELS.metadata, JSON.stringify(part.metadata));
  }
}

/**
 * Joins adjacent text parts of one media type and file name: agents that stream add a part for each chunk of one text.
 * `keepMetadata` leaves parts with metadata apart, because a joined part has none.
 */
export function joinedTexts(
  parts: readonly Part[],
  { keepMetadata = false }: { readonly keepMetadata?: boolean } = {},
): readonly Part[] {
  const runs: { readonly first: Part; readonly texts: string[] }[] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    if (run !== undefined && 'text' in part && continues(run.first, part, keepMetadata)) run.texts.push(part.text);
    else runs.push({ first: part, texts: 'text' in part ? [part.text] : [] });
  }
  return runs.map(({ first, texts }) => {
    if (texts.length < 2) return first;
    const { metadata: _, ...rest } = first;
    return { ...rest, text: texts.join('') } as Part;
  });
}

function continues(one: Part, next: Part, keepMetadata: boolean): boolean {
  if (!('text' in one) || one.mediaType !== next.mediaType || one.filename !== next.filename) return false;
  return !keepMetadata || (one.metadata === undefined && next.metadata === undefined);
}

/** A file in one line. */
export function fileLine(part: Extract<Part, { raw: string } | { url: string }>): string {
  const described = [part.filename, part.mediaType];
  const place = 'raw' in part ? sized(bytesOf(part.raw)) : part.url;
  return [...described, place].filter((piece) => piece !== undefined && piece !== '').join(', ');
}

function bytesOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}

function sized(bytes: number): string {
  return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
}
