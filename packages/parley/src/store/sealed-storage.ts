import type { Logger } from '../telemetry/logger.js';
import type { TaskStorage } from './task-storage.js';

/** The keys of a storage with encrypted credentials. */
export interface SealedStorageOptions {
  /** Keys of 32 bytes, in base64 or hex. The first one encrypts, and all decrypt. Empty: nothing is encrypted. */
  readonly keys: readonly string[];
  readonly logger: Logger;
}

/**
 * A storage that keeps the credentials of push configurations encrypted. All other calls go to `storage` directly. A
 * configuration that cannot be decrypted is an error for its reader, and its deliveries are parked.
 */
export function sealedStorage(storage: TaskStorage, options: SealedStorageOptions): TaskStorage {
  let loading: Promise<import('./sealed-configs.js').SealedConfigs> | undefined;
  // Loaded with the first configuration: most servers never have one.
  const configs = () => {
    loading ??= import('./sealed-configs.js').then(({ SealedConfigs }) => new SealedConfigs(storage, options));
    return loading;
  };
  const replaced: Partial<TaskStorage> = {
    accept: async (acceptance) =>
      acceptance.pushConfig === undefined ? storage.accept(acceptance) : (await configs()).accept(acceptance),
    putPushConfig: async (...call) => (await configs()).putPushConfig(...call),
    pushConfig: async (...call) => (await configs()).pushConfig(...call),
    pushConfigs: async (...call) => (await configs()).pushConfigs(...call),
    claimDeliveries: async (request) => (await configs()).claimDeliveries(request),
  };
  const bound = new Map<unknown, unknown>(Object.entries(replaced));
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
