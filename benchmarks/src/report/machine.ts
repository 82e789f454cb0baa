import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

/** The machine and the software of a run. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** This machine, and the versions of what is measured on it. */
export function thisMachine(): Machine {
  return {
    cpu: `${cpus()[0]?.model ?? 'unknown'} (${arch()})`,
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    versions: {
      node: process.versions.node,
      v8: process.versions.v8,
      'parley-a2a': versionOf('parley-a2a'),
      '@a2a-js/sdk': versionOf('@a2a-js/sdk'),
      express: versionOf('express'),
    },
  };
}

/** From the package's own manifest, wherever it is installed. */
function versionOf(name: string): string {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as { version: string };
      return manifest.version;
    } catch {
      // Not in this folder.
    }
  }
  return 'not installed';
}
