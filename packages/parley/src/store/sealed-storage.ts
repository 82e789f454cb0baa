import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import type { Logger } from '../telemetry/logger.js';
import type { Acceptance, TaskStorage } from './task-storage.js';

/** The calls that take or give push configurations, beside `accept`. */
const SEALED_CALLS = ['putPushConfig', 'rewriteConfig', 'pushConfig', 'pushConfigs', 'claimDeliveries'] as const;

/** The keys of a storage with encrypted credentials. */
export interface SealedStorageOptions {
  /** Keys of 32 bytes, in base64 or hex. The first one encrypts, and all decrypt. Empty: nothing is encrypted. */
  readonly keys: readonly string[];
  readonly logger: Logger;
}

/**
 * A storage that keeps urls and credentials of push configurations encrypted. Other calls go to `storage` directly. A
 * configuration that cannot be decrypted is an error for its reader, and its deliveries are parked.
 */
export function sealedStorage(storage: TaskStorage, options: SealedStorageOptions): TaskStorage {
  // Loaded with the first configuration: most servers never have one.
  const configs = new LoadedOnDemand(async () => {
    const { SealedConfigs } = await import('./sealed-configs.js');
    return new SealedConfigs(storage, options);
  });
  const bound = new Map<unknown, unknown>(
    SEALED_CALLS.map((name) => [
      name,
      async (...call: unknown[]) => {
        const sealing = await configs.get();
        return Reflect.apply(sealing[name], sealing, call) as unknown;
      },
    ]),
  );
  bound.set('accept', async (acceptance: Acceptance) =>
    acceptance.pushConfig === undefined ? storage.accept(acceptance) : (await configs.get()).accept(acceptance),
  );
  return new Proxy(storage, {
    get: (target, name) => {
      const known = bound.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method: unknown = value.bind(target);
      bound.set(name, method);
      return method;
    },
  });
}
