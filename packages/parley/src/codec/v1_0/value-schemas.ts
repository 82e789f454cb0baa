import type { ValueForm } from '../../model/type-row.js';
import type { Schema } from '../../openapi/document.js';

/** Base64 in the alphabet of RFC 4648 §4 or §5, with or without padding. */
const BASE64 = '^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$';
/** The accepted form of RFC 3339. The format `date-time` also excludes days that do not exist. */
const INSTANT =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$';

/** The place of a value: a JSON text has numbers, a query has texts only. */
type WrittenIn = 'json' | 'query';

/** The forms of values that are neither objects nor lists nor maps. */
export type ScalarForm = Exclude<ValueForm, { readonly is: 'object' | 'list' | 'map' }>;

/** The schema of an accepted value. `needed` is true if the member has no default that replaces an absent value. */
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

/** The schema, or `null`. */
export function nullable(schema: Schema): Schema {
  const { type, enum: values } = schema;
  if (type === undefined) return { anyOf: [schema, { type: 'null' }] };
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('null')) return schema;
  return { ...schema, type: [...types, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) };
}

/** The pattern of texts that are read as an integer. */
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
