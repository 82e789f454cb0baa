import { describe } from 'vitest';
import { acceptingContract } from './storage/accepting.js';
import { allTasksContract } from './storage/all-tasks.js';
import { appendingContract } from './storage/appending.js';
import { cancelingContract } from './storage/canceling.js';
import { checkingContract } from './storage/checking.js';
import { claimingContract } from './storage/claiming.js';
import { commitsContract } from './storage/commits.js';
import { deliveriesContract } from './storage/deliveries.js';
import { keepingContract } from './storage/keeping.js';
import { listsContract } from './storage/lists.js';
import { logsContract } from './storage/logs.js';
import { processesContract } from './storage/processes.js';
import { pushConfigurationsContract } from './storage/push-configurations.js';
import { refusalsContract } from './storage/refusals.js';
import { equalIdsContract, scopesContract } from './storage/scopes.js';
import type { OpenStorage } from './storage/tested-storage.js';

const WHOLE = [
  scopesContract,
  equalIdsContract,
  acceptingContract,
  refusalsContract,
  appendingContract,
  claimingContract,
  cancelingContract,
  logsContract,
  listsContract,
  allTasksContract,
  keepingContract,
  pushConfigurationsContract,
  deliveriesContract,
  commitsContract,
  checkingContract,
  processesContract,
];

/** The parts of the contract that a variant of a tested storage may break, by its difference. */
const PARTS = {
  /** Its rows are in other partitions: these parts read across owners and tasks. */
  places: [
    ...[scopesContract, claimingContract, listsContract, allTasksContract],
    ...[keepingContract, deliveriesContract, commitsContract],
  ],
  /** It encrypts the configurations of webhooks. */
  secrets: [pushConfigurationsContract, deliveriesContract],
  /** It loses its thread, which only affects tests with many calls. */
  thread: [scopesContract, equalIdsContract, logsContract, deliveriesContract, commitsContract],
} as const;

/**
 * The definition of the storage port: every implementation passes all of it. A variant `differsIn` something: it passes
 * all in the long form, and the parts that see the difference in the short form.
 */
export function storageContract(
  name: string,
  open: OpenStorage,
  { differsIn }: { readonly differsIn?: keyof typeof PARTS } = {},
): void {
  const isWhole = differsIn === undefined || process.env.TEST_LONG !== undefined;
  describe(`${name} storage`, () => {
    for (const contract of isWhole ? WHOLE : PARTS[differsIn]) contract(open);
  });
}
