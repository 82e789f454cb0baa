import type { HostExtension } from '../app/host-extension.js';
import { type OperatorApiOptions, operatorExtension } from '../app/operator/operator-extension.js';
import { authenticatorSchema } from '../app/options/agent-options.js';
import { checkOptions } from '../options/check-options.js';
import { closed, nonEmpty, pattern } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';

export type { OperatorApiOptions } from '../app/operator/operator-extension.js';
export { type ClusterStatus, type ReplicaStatus, readClusterStatus } from '../store/cluster-status.js';

const schema = closed({
  permission: Type.Optional(nonEmpty),
  authenticator: Type.Optional(authenticatorSchema),
  token: Type.Optional(pattern(/^[\x21-\x7e]{32,512}$/, 'must have 32 to 512 visible characters of ASCII')),
});

/**
 * The operator API, for the option `operator` of a server: tasks of all owners, replicas, and failed webhooks with their
 * replay, below `/operator/v1`. See docs/operator-api.md.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function operatorApi(options: OperatorApiOptions = {}): HostExtension {
  return operatorExtension(checkOptions({ subject: 'operatorApi', schema, options }));
}
