import type { Server } from 'node:http';

export function serve(folder: string, at: { root: string; port: number }): Promise<Server>;
