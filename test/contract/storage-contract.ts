import { describe } from 'vitest';
import { acceptingContract } from './storage/accepting.js';
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

/** The definition of the storage port: every implementation passes all of it. */
export function storageContract(name: string, open: OpenStorage): void {
  describe(`${name} storage`, () => {
    for (const contract of [
      scopesContract,
      equalIdsContract,
      acceptingContract,
      refusalsContract,
      appendingContract,
      claimingContract,
      cancelingContract,
      logsContract,
      listsContract,
      keepingContract,
      pushConfigurationsContract,
      deliveriesContract,
      commitsContract,
      checkingContract,
      processesContract,
    ]) {
      contract(open);
    }
  });
}
