import { execFileSync } from 'node:child_process';

/** True if this machine has the Go that the official SDK needs. */
export function hasGo(): boolean {
  try {
    const [, minor] = /go1\.(\d+)/.exec(execFileSync('go', ['version'], { encoding: 'utf8' })) ?? [];
    return Number(minor) >= 25;
  } catch {
    return false;
  }
}
