import type { nameSettings, ServerSetting } from 'parley-a2a/server-settings';

export const PAGE: string;
export function withTables(page: string): Promise<string>;
export function settingsTable(settings: Readonly<Record<string, ServerSetting>>, names: typeof nameSettings): string;
