import { isObject } from '../../model/json.js';
import type { DataPart, Part, RawPart, UrlPart } from '../../model/part.js';
import type { Dialect } from './dialect.js';
import { type Members, membersReader, readNonEmpty } from './members-reader.js';

/** Marks a data part whose value was no object and was put into one. */
const WRAPPED = 'data_part_compat';

/** Writes a part. 0.3 has no place for the file name and media type of a text or data part: they are lost. */
export function writePart(dialect: Dialect, part: Part): object {
  if (part.text !== undefined) {
    const { text, metadata } = part;
    return dialect.kinds ? { kind: 'text', text, metadata } : { text, metadata };
  }
  return part.data !== undefined ? writeData(dialect, part) : writeFile(dialect, part);
}

function writeData({ kinds }: Dialect, part: DataPart): object {
  const whole = isObject(part.data);
  const data = whole ? part.data : { value: part.data };
  const metadata = whole ? part.metadata : { ...part.metadata, [WRAPPED]: true };
  return kinds ? { kind: 'data', data, metadata } : { data: { data }, metadata };
}

function writeFile({ kinds }: Dialect, part: RawPart | UrlPart): object {
  const { filename: name, mediaType: mimeType, metadata } = part;
  if (kinds) {
    const content = part.raw !== undefined ? { bytes: part.raw } : { uri: part.url };
    return { kind: 'file', file: { ...content, mimeType, name }, metadata };
  }
  const content = part.raw !== undefined ? { fileWithBytes: part.raw } : { fileWithUri: part.url };
  return { file: { ...content, mimeType, name }, metadata };
}

const readFile = membersReader([
  ['raw', ['bytes', 'fileWithBytes']],
  ['url', ['uri', 'fileWithUri']],
  ['filename', ['name'], readNonEmpty],
  ['mediaType', ['mimeType'], readNonEmpty],
]);

/** Reads a part with all its contents: the validator refuses none, and more than one. `kind` may be missing. */
export function partReader(dialect: Dialect): (part: Members) => object {
  const read = membersReader([['text'], ['data'], ['metadata']]);
  return (part) => {
    const members = read(part);
    if (isObject(part.file)) Object.assign(members, readFile(part.file));
    if (members.data !== undefined) {
      if (!dialect.kinds && part.kind === undefined && isWrapper(members.data)) members.data = members.data.data;
      unwrap(members);
    }
    return members;
  };
}

/** True if the data are wrapped in a message, as ProtoJSON has it; some implementations write the object itself. */
function isWrapper(data: unknown): data is { readonly data: unknown } {
  return isObject(data) && isObject(data.data) && Object.keys(data).length === 1;
}

/** Restores a value that `writePart` put into an object. */
function unwrap(part: Record<string, unknown>): void {
  const { data, metadata } = part;
  if (!isObject(metadata) || metadata[WRAPPED] !== true || !isObject(data)) return;
  const { [WRAPPED]: _, ...rest } = metadata;
  part.data = data.value;
  if (Object.keys(rest).length > 0) part.metadata = rest;
  else delete part.metadata;
}
