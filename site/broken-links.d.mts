export function brokenLinks(folder: string, base: string): { page: string; link: string; reason: string }[];
