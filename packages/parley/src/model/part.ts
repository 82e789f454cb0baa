import Type from 'typebox';
import { Bytes, FreeObject, FreeValue, modelObject } from './schema.js';

export type { DataPart, Part, RawPart, TextPart, UrlPart } from './protocol-types.generated.js';

const about = {
  metadata: Type.Optional(FreeObject),
  filename: Type.Optional(Type.String()),
  mediaType: Type.Optional(Type.String()),
};

/** A piece of text; `""` is a valid text. */
export const TextPartSchema = modelObject('TextPart', { text: Type.String(), ...about });
/** File content, as base64. */
export const RawPartSchema = modelObject('RawPart', { raw: Bytes, ...about });
/** A reference to file content. */
export const UrlPartSchema = modelObject('UrlPart', { url: Type.String(), ...about });
/** Any JSON value, `null` included. */
export const DataPartSchema = modelObject('DataPart', { data: FreeValue, ...about });

/** One piece of content of a message or an artifact: exactly one of `text`, `raw`, `url` and `data` (Spec §4.1.6). */
export const PartSchema = Type.Union([TextPartSchema, RawPartSchema, UrlPartSchema, DataPartSchema], { $id: 'Part' });
