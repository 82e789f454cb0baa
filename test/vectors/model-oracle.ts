import { Ajv2020 } from 'ajv/dist/2020.js';
import { JSON_SCHEMA } from '../../packages/parley/src/model/json-schema.generated.js';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const TIMESTAMP = /^(?!0000)(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?Z$/;

const ajv = new Ajv2020({
  strict: true,
  strictRequired: false,
  formats: {
    base64: (text) => BASE64.test(text),
    timestamp: (text) => {
      const whole = TIMESTAMP.exec(text)?.[1];
      if (whole === undefined) return false;
      const date = new Date(`${whole}Z`);
      return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === whole;
    },
  },
});
ajv.addSchema({ $id: 'model', ...JSON_SCHEMA });

/**
 * True if a value is of a type, by the published JSON Schema in the original validator library, and by well-formed
 * texts. Shares only the schemas with the compiled validators.
 */
export function oracle(type: string, value: unknown): boolean {
  const validate = ajv.getSchema(`model#/$defs/${type}`);
  if (validate === undefined) throw new Error(`no schema named ${type}`);
  return validate(value) === true && isHoldable(value);
}

/** True if a value is JSON with well-formed texts. JSON Schema cannot express that. */
export function isHoldable(value: unknown): boolean {
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isHoldable);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).every(([name, member]) => isHoldable(name) && isHoldable(member));
  }
  return true;
}
