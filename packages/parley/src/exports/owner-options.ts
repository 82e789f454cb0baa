import type { ExportOwnerOptions } from '../adapters/node/owner-export.js';
import { checkOptions } from '../options/check-options.js';
import {
  count,
  eitherOf,
  flag,
  func,
  nonEmpty,
  type OptionSchemas,
  optionObject,
  withMethod,
} from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { EraseOwnerOptions } from '../user-data/erase-owner.js';
import type { OwnerDataOptions } from '../user-data/owner-data.js';

type Checked<Options> = OptionSchemas<Omit<Options, 'clock' | 'ids'>>;

const owner = optionObject({
  owner: eitherOf([nonEmpty, Type.Literal(null as never)], 'must be the id of a user, or null for anonymous callers'),
  agent: Type.Optional(nonEmpty),
  tenant: Type.Optional(Type.String()),
});
const shared: Checked<Omit<OwnerDataOptions, 'audit'>> = {
  storage: withMethod('accept'),
  files: Type.Optional(Type.Object({})),
  owner,
};
const changes: Checked<OwnerDataOptions> = { ...shared, audit: Type.Optional(withMethod('write')) };
const erasure: Checked<EraseOwnerOptions> = {
  ...changes,
  graceMs: Type.Optional(count),
  onProgress: Type.Optional(func),
};
const copy: Checked<ExportOwnerOptions> = {
  ...changes,
  to: nonEmpty,
  force: Type.Optional(flag),
  onProgress: Type.Optional(func),
};

/** The options of each function on the data of a user. */
const SCHEMAS = {
  countOwner: optionObject(shared),
  eraseOwner: optionObject(erasure),
  exportOwner: optionObject(copy),
};

/** @throws OptionsError naming every option that is unknown or wrong. */
export function checkOwnerOptions(subject: keyof typeof SCHEMAS, options: object): void {
  checkOptions({ subject, schema: SCHEMAS[subject], options });
}
