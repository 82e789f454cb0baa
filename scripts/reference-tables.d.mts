import type { nameSettings, ServerSetting } from 'parley-a2a/server-settings';

export const REFERENCE_FILES: readonly string[];
export function referenceFile(path: string): Promise<string>;
export function settingsTable(
  settings: Readonly<Record<string, ServerSetting>>,
  names: typeof nameSettings,
  served?: readonly string[],
): string;
