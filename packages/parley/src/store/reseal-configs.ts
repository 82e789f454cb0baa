import { SecretError } from '../errors/secret-error.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { SecretBox } from '../secrets/secret-box.js';
import type { DeliveryKey, PlacedPushConfig } from './push-storage.js';
import { changedSecrets } from './sealed-configs.js';
import type { TaskStorage } from './task-storage.js';

/** Options of `resealConfigs`. */
export interface ResealOptions {
  /** Keys of 32 bytes, in base64 or hex. The first one encrypts, and all decrypt. */
  readonly keys: readonly string[];
  /** True only counts, and changes nothing. */
  readonly dryRun?: boolean;
}

/** The number of push configurations of a storage by the state of their secrets. */
export interface ResealedCounts {
  /** All secrets are under the first key. */
  readonly current: number;
  /** Encrypted with the first key by this call. */
  readonly resealed: number;
  /** Some secrets are still plain or under other keys. Those keys must be kept. */
  readonly old: number;
  /** Cannot be decrypted with the given keys. */
  readonly unreadable: number;
}

const PAGE = 100;
/** Maximum attempts for one configuration, because a server may change it at the same time. */
const ATTEMPTS = 5;

/**
 * Encrypts the secrets of all push configurations with the first key, page by page. Delivery queues are unchanged.
 * Servers may run at the same time if their first key is the same.
 * @param storage The storage itself, without encryption around it.
 * @throws OptionsError with the position of every invalid key.
 */
export async function resealConfigs(storage: TaskStorage, options: ResealOptions): Promise<ResealedCounts> {
  if (Object(storage).push === undefined) refuseArgument('resealConfigs', 'a storage and { keys }', storage);
  const { keys, dryRun = false } = options;
  const box = new SecretBox(keys);
  const counts = { current: 0, resealed: 0, old: 0, unreadable: 0 };
  let cursor: string | undefined;
  do {
    const page = await storage.push.queues({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const queue of page.queues) {
      const outcome = await resealPage(storage, queue, { box, dryRun });
      if (outcome !== undefined) counts[outcome] += 1;
    }
    cursor = page.next;
  } while (cursor !== undefined);
  return counts;
}

async function resealPage(
  storage: TaskStorage,
  { key, configId }: DeliveryKey,
  { box, dryRun }: { readonly box: SecretBox; readonly dryRun: boolean },
): Promise<keyof ResealedCounts | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const kept = await storage.push.config(key.scope, key.id, configId);
    // The configuration was deleted with its task.
    if (kept === undefined) return undefined;
    const from = kept as PlacedPushConfig;
    const to = await resealedConfig(from, key.scope, box);
    if (to === undefined) return 'unreadable';
    if (JSON.stringify(from) === JSON.stringify(to)) return 'current';
    if (dryRun) return 'old';
    if (await storage.push.rewriteConfig({ key, configId }, { from, to })) return 'resealed';
  }
  return 'old';
}

/** Encrypts the secrets of a configuration with the first key. Returns `undefined` if the old key is missing. */
async function resealedConfig(
  config: PlacedPushConfig,
  scope: DeliveryKey['key']['scope'],
  box: SecretBox,
): Promise<PlacedPushConfig | undefined> {
  try {
    return await changedSecrets(scope, config, async (text, place) =>
      (await box.isCurrent(text)) ? text : box.seal(await box.open(text, place), place),
    );
  } catch (error) {
    if (error instanceof SecretError) return undefined;
    throw error;
  }
}
