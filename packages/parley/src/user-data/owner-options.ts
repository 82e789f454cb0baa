import { checkOptions } from '../options/check-options.js';
import { anyOf, closed, flag, func, nonEmpty, positive, withMethod } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';

const owner = closed({
  owner: anyOf([nonEmpty, Type.Literal(null as never)], 'must be the id of a user, or null for anonymous callers'),
  agent: Type.Optional(nonEmpty),
  tenant: Type.Optional(Type.String()),
});
const shared = {
  storage: withMethod('accept'),
  files: Type.Optional(Type.Object({})),
  owner,
};
const audit = { audit: Type.Optional(withMethod('write')) };

/** The options of each function on the data of a user. */
const SCHEMAS = {
  countOwner: closed(shared),
  eraseOwner: closed({ ...shared, ...audit, graceMs: Type.Optional(positive), onProgress: Type.Optional(func) }),
  exportOwner: closed({ ...shared, ...audit, to: nonEmpty, force: Type.Optional(flag) }),
};

/** @throws OptionsError naming every option that is unknown or wrong. */
export function checkOwnerOptions(subject: keyof typeof SCHEMAS, options: object): void {
  checkOptions({ subject, schema: SCHEMAS[subject], options });
}
