export function goProgramOf(folder: string, leftOut: string): Promise<string | undefined>;
