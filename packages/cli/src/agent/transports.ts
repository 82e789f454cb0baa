import type { ClientBinding } from 'parley-a2a/client';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';
import { TRANSPORT_NAMES, TRANSPORTS } from './bindings.js';

/** Returns the bindings in flags, in order of preference. */
export function preferredBindings(names: readonly string[]): readonly string[] {
  return names.map((name) => transportOf(name).binding);
}

/** Loads the bindings in flags that are not built into the client. */
export function loadedBindings(settings: Settings): Promise<readonly ClientBinding[]> {
  return loadBindings(settings.list('transport').map(transportOf), settings);
}

/** Loads all bindings that are not built into the client. */
export function furtherBindings(settings: Settings): Promise<readonly ClientBinding[]> {
  return loadBindings(TRANSPORTS, settings);
}

function loadBindings(transports: typeof TRANSPORTS, settings: Settings): Promise<readonly ClientBinding[]> {
  const loads = new Set(transports.flatMap(({ load }) => load ?? []));
  return Promise.all(Array.from(loads, (load) => load(settings)));
}

function transportOf(name: string) {
  const transport = TRANSPORTS.find(({ spellings }) => spellings.includes(name.toLowerCase()));
  if (transport === undefined) throw usageError(`--transport is one of ${TRANSPORT_NAMES}, not "${name}"`);
  return transport;
}
