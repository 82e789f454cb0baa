import type { ValueForm } from '../../model/type-row.js';
import type { Schema } from '../../openapi/document.js';

/** In the alphabet of RFC 4648 §4 or §5, with padding or without. */
const BASE64 = '^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$';
/** RFC 3339 as far as it is accepted; the format says which days there are. */
const INSTANT =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$';

/** Where a value is written: a JSON text holds a number, a query only what looks like one. */
export type WrittenIn = 'json' | 'query';

/** The simple forms of values; objects, lists and maps are made of them. */
export type ScalarForm = Exclude<ValueForm, { readonly is: 'object' | 'list' | 'map' }>;

/** What is accepted for a value; `needed` where nothing can stand for its absence. */
export function scalarSchema(form: ScalarForm, needed: boolean, place: WrittenIn): Schema {
  switch (form.is) {
    case 'string':
      return { type: 'string', ...(form.nonEmpty && needed && { minLength: 1 }) };
    case 'integer': {
      const { minimum, maximum } = form;
      const bounds = { minimum, maximum };
      if (place === 'query') return { type: 'integer', ...bounds };
      return { type: ['integer', 'string'], ...bounds, pattern: decimalPattern(bounds) };
    }
    case 'boolean':
      return { type: 'boolean' };
    case 'base64':
      return { type: 'string', pattern: BASE64 };
    case 'timestamp':
      return { type: 'string', format: 'date-time', pattern: INSTANT };
    case 'enum': {
      const from = form.zero || !needed ? 0 : 1;
      const names = form.names.slice(from);
      if (!form.numbered) return { type: 'string', enum: names };
      return { type: ['string', 'integer'], enum: [...names, ...names.map((_, at) => at + from)] };
    }
    case 'free':
      return { type: 'object' };
    case 'json':
      return {};
  }
}

/** The same, or `null`. */
export function nullable(schema: Schema): Schema {
  const { type, enum: values } = schema;
  if (type === undefined) return { anyOf: [schema, { type: 'null' }] };
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('null')) return schema;
  return { ...schema, type: [...types, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) };
}

/** The texts that are read as an integer of 0 or 1 to a maximum. */
function decimalPattern({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }): string {
  const digits = String(maximum);
  const alternatives = [
    ...(minimum <= 0 ? ['-?0'] : []),
    ...(digits.length > 1 ? [`[1-9]${anyDigits(0, digits.length - 2)}`] : []),
  ];
  for (const [at, digit] of [...digits].entries()) {
    const lowest = at === 0 ? 1 : 0;
    if (Number(digit) > lowest) {
      alternatives.push(`${digits.slice(0, at)}[${lowest}-${Number(digit) - 1}]${anyDigits(digits.length - at - 1)}`);
    }
  }
  return `^(?:${[...alternatives, digits].join('|')})(?:\\.0{1,15})?$`;
}

function anyDigits(from: number, to = from): string {
  return to === 0 ? '' : `[0-9]{${from === to ? from : `${from},${to}`}}`;
}
