import Type from 'typebox';
import { Bytes, closed, FreeObject, FreeValue, type Shape } from './schema.js';

const about = {
  metadata: Type.Optional(FreeObject),
  filename: Type.Optional(Type.String()),
  mediaType: Type.Optional(Type.String()),
};

export const TextPartSchema = closed('TextPart', { text: Type.String(), ...about });
export const RawPartSchema = closed('RawPart', { raw: Bytes, ...about });
export const UrlPartSchema = closed('UrlPart', { url: Type.String(), ...about });
export const DataPartSchema = closed('DataPart', { data: FreeValue, ...about });

/** Exactly one content member. Its name tells the kind (Spec §4.1.6). */
export const PartSchema = Type.Union([TextPartSchema, RawPartSchema, UrlPartSchema, DataPartSchema], { $id: 'Part' });

/** A piece of text; `""` is a valid text. */
export type TextPart = Shape<typeof TextPartSchema>;
/** File content, as base64. */
export type RawPart = Shape<typeof RawPartSchema>;
/** A reference to file content. */
export type UrlPart = Shape<typeof UrlPartSchema>;
/** Any JSON value, `null` included. */
export type DataPart = Shape<typeof DataPartSchema>;
/** One piece of content of a message or an artifact. `'text' in part` and so on tell the four kinds apart. */
export type Part = TextPart | RawPart | UrlPart | DataPart;
