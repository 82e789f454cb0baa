import { LISTED } from '../model/bound-interface.js';
import * as Type from './option-types.js';

/** A schema for each member of some options. The compiler reports members without a schema, and the reverse. */
export type OptionSchemas<Options> = { readonly [Name in keyof Required<Options>]: Type.TSchema };

/** An object with these members and no other. */
export function optionObject(members: Readonly<Record<string, Type.TSchema>>): Type.TObject {
  return Type.Object(members, { additionalProperties: false });
}

/** An object with free names, whose members follow one schema. */
export function mapOf(member: Type.TSchema): Type.TSchema {
  return Type.Object({}, { additionalProperties: member });
}

/** A value that JSON Schema cannot describe. */
export function custom(check: (value: unknown) => boolean, message: string): Type.TSchema {
  return Type.Refine(Type.Unknown(), check, () => message);
}

/** One of several forms. The message names all of them, because no single fault is the right one to report. */
export function eitherOf(forms: Type.TSchema[], message: string): Type.TSchema {
  return Type.Union(forms, { message });
}

/** An object of the library, recognized by one of its methods. `remedy` ends the message, such as `Give a storage`. */
export function withMethod(name: string, remedy?: string): Type.TSchema {
  const message = `needs a method ${name}${remedy === undefined ? '' : `. ${remedy}`}`;
  return custom((value) => typeof value === 'object' && value !== null && name in value, message);
}

/** A function. */
export const func = custom((value) => typeof value === 'function', 'must be a function');
/** Any string. */
export const text = Type.String();
/** A string with at least one character. */
export const nonEmpty = Type.String({ minLength: 1 });
/** A list of strings. */
export const texts = Type.Array(text);
/** True or false. */
export const flag = Type.Boolean();
/** A number above 0: a duration in ms, or a size. */
export const positive = Type.Number({ exclusiveMinimum: 0 });
/** A whole number from 0. */
export const count = Type.Integer({ minimum: 0 });

/** The cards that list the interfaces of a binding. */
export const listed = Type.Optional(Type.String({ enum: [...LISTED] }));

/** A string that a regular expression matches. */
export function pattern(expression: RegExp, message: string): Type.TSchema {
  return Type.Refine(
    text,
    (value) => expression.test(value),
    () => message,
  );
}

/** An absolute http or https URL. */
export function webUrl(message: string): Type.TSchema {
  return Type.Refine(
    text,
    (value) => /^https?:\/\//i.test(value) && URL.canParse(value),
    () => message,
  );
}
