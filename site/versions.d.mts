export function writeVersions(folder: string, root: string): void;
export function newestFirst(one: string, other: string): number;
