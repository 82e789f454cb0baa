import type { JsonObject, JsonValue } from '../../model/json.js';
import type { DataPart, Part, RawPart, UrlPart } from '../../model/part.js';
import type { Dialect } from './dialect.js';
import { isObject, type Members, member, present } from './members.js';

/** Marks a data part whose value was no object, and so had to be put into one. */
const WRAPPED = 'data_part_compat';

/** What a text or data part says of its file name and media type is lost: 0.3 has no place for it. */
export function writePart(dialect: Dialect, part: Part): object {
  if ('text' in part) {
    const { text, metadata } = part;
    return dialect.kinds ? { kind: 'text', text, metadata } : { text, metadata };
  }
  return 'data' in part ? writeData(dialect, part) : writeFile(dialect, part);
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
    const content = 'raw' in part ? { bytes: part.raw } : { uri: part.url };
    return { kind: 'file', file: { ...content, mimeType, name }, metadata };
  }
  const content = 'raw' in part ? { fileWithBytes: part.raw } : { fileWithUri: part.url };
  return { file: { ...content, mimeType, name }, metadata };
}

/** A part with every content it has: the validator refuses more than one, and none. `kind` may be missing. */
export function readPart(dialect: Dialect, part: Members): object {
  const file = member(part, 'file');
  const { content, metadata } = readData(dialect, part);
  return present({
    text: member(part, 'text'),
    data: content,
    ...(isObject(file) && {
      raw: member(file, 'bytes', 'fileWithBytes'),
      url: member(file, 'uri', 'fileWithUri'),
      filename: nonEmpty(member(file, 'name')),
      mediaType: nonEmpty(member(file, 'mimeType')),
    }),
    metadata,
  });
}

interface ReadData {
  readonly content: unknown;
  readonly metadata: unknown;
}

function readData({ kinds }: Dialect, part: Members): ReadData {
  const metadata = member(part, 'metadata');
  const data = member(part, 'data');
  const content = kinds || part.kind !== undefined || !isWrapper(data) ? data : data.data;
  if (!isObject(metadata) || metadata[WRAPPED] !== true || !isObject(content)) return { content, metadata };
  const { [WRAPPED]: _, ...rest } = metadata as JsonObject;
  return { content: content.value as JsonValue, metadata: Object.keys(rest).length === 0 ? undefined : rest };
}

/** ProtoJSON has a message around the object of a data part; some write the object itself. */
function isWrapper(data: unknown): data is { readonly data: unknown } {
  return isObject(data) && isObject(data.data) && Object.keys(data).length === 1;
}

function nonEmpty(value: unknown): unknown {
  return value === '' ? undefined : value;
}
