import type { HostExtension } from '../app/host-extension.js';
import { type OperatorApiOptions, operatorExtension } from '../app/operator/operator-extension.js';
import { authenticatorSchema } from '../app/options/agent-options.js';
import { checkOptions } from '../options/check-options.js';
import { nonEmpty, optionObject, pattern } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { type ClusterStatus, readClusterStatus as readStatus } from '../store/cluster-status.js';
import type { TaskStorage } from '../store/task-storage.js';

export type { OperatorApiOptions } from '../app/operator/operator-extension.js';
export type { ClusterStatus, ReplicaStatus } from '../store/cluster-status.js';

const schema = optionObject({
  permission: Type.Optional(nonEmpty),
  authenticator: Type.Optional(authenticatorSchema),
  token: Type.Optional(pattern(/^[\x21-\x7e]{32,512}$/, 'must have 32 to 512 visible characters of ASCII')),
});

/**
 * The operator API, for the option `operator` of a server: tasks of all owners, replicas, failed webhooks and their
 * replay, below `/operator/v1`. See docs/operator-api.md.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function operatorApi(options: OperatorApiOptions = {}): HostExtension {
  return operatorExtension(checkOptions({ subject: 'operatorApi', schema, options }));
}

/** Reads the state of all replicas on a storage. Writes only the row that every readiness check writes. */
export async function readClusterStatus(storage: TaskStorage): Promise<ClusterStatus> {
  if (Object(storage).accept === undefined)
    refuseArgument('readClusterStatus', 'a storage, such as await openStorage(url)', storage);
  return readStatus(storage);
}
