import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonValue, Part } from 'parley-a2a';
import type { GivenFlag } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';

/** Media types by extension, for files without `--media-type`. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  xml: 'application/xml',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  mp4: 'video/mp4',
  webm: 'video/webm',
  zip: 'application/zip',
  gz: 'application/gzip',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** Minimum size of files that are uploaded, in bytes, if the agent accepts uploads. */
const UPLOADED_FROM = 1024 * 1024;

/** A local file whose bytes are read when the message is sent. */
export interface LargeFile {
  readonly path: string;
  readonly filename: string;
  readonly mediaType?: string;
}

/** A part from flags. */
export type GivenPart = Part | LargeFile;

/** Returns the file extension of a media type, without the dot. */
export function extensionOf(mediaType: string | undefined): string | undefined {
  const bare = mediaType?.split(';')[0]?.trim().toLowerCase();
  return Object.entries(MEDIA_TYPES).find(([, type]) => type === bare)?.[0];
}

/**
 * Makes the parts of a message in the order of their flags. The plain message comes first.
 * @throws CliError A2ACLI_ERR_USAGE
 */
export function messageParts(message: string | undefined, given: readonly GivenFlag[]): readonly GivenPart[] {
  const parts: GivenPart[] = message === undefined ? [] : [{ text: message === '-' ? stdinText() : message }];
  let typed = false;
  let flagged = false;
  for (const { name, value } of given) {
    const text = String(value);
    if (name === 'media-type') {
      const part = parts.pop();
      if (part === undefined || !flagged) throw usageError('--media-type comes after the part that it describes');
      if (typed) throw usageError('--media-type is given twice for the same part');
      parts.push({ ...part, mediaType: text });
      typed = true;
      continue;
    }
    const part =
      name === 'text' ? { text } : name === 'file' ? filePart(text) : name === 'data' ? dataPart(text) : undefined;
    if (part === undefined) continue;
    parts.push(part);
    typed = false;
    flagged = true;
  }
  return parts;
}

/** Parses the JSON of a flag, or of the file that it names; `-` reads standard input. */
export function jsonFrom(flag: string, value: string): JsonValue {
  if (value === '-') return parsedJson(flag, 'standard input', stdinText());
  try {
    return parsedJson(flag, value, readFileSync(value, 'utf8'));
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
  }
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    throw usageError(`${flag} ${value}: there is no such file, and it is no JSON`);
  }
}

/**
 * Makes a part from a file: the content of a path, or a reference to a URL. The content of a large file is read later.
 * @throws CliError A2ACLI_ERR_USAGE
 */
export function filePart(place: string): GivenPart {
  // URLs are sent as references, without fetching them.
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place) && !place.startsWith('file://'))
    return { url: place, ...inferType(place) };
  try {
    const path = place.startsWith('file://') ? fileURLToPath(place) : place;
    const filename = basename(place);
    const { size } = statSync(path);
    if (size > UPLOADED_FROM) {
      accessSync(path, constants.R_OK);
      return { path, filename, ...inferType(filename) };
    }
    const raw = readFileSync(path).toString('base64');
    return { raw, filename, ...inferType(filename) };
  } catch (error) {
    throw usageError(`--file ${place}: ${(error as Error).message}`);
  }
}

function inferType(name: string): { mediaType?: string } {
  const mediaType =
    MEDIA_TYPES[
      extname(name.replace(/[?#].*/s, ''))
        .slice(1)
        .toLowerCase()
    ];
  return mediaType === undefined ? {} : { mediaType };
}

function dataPart(value: string): Part {
  return { data: jsonFrom('--data', value) };
}

function parsedJson(flag: string, place: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw usageError(`${flag}: ${place} is no JSON: ${(error as Error).message}`);
  }
}

let read: string | undefined;

function stdinText(): string {
  if (read !== undefined) throw usageError('standard input can be read only once');
  read = readFileSync(0, 'utf8');
  return read;
}
