import { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { afterAll } from 'vitest';
import { outputs } from '../../packages/parley/test/planted-secrets.js';

// Runs before every test file: whatever a process of a test writes is searched for planted secrets.

type Spawn = (this: ChildProcess, options: { readonly args?: readonly string[] }) => unknown;
const prototype = ChildProcess.prototype as unknown as { spawn: Spawn & { isWatched?: true } };
let count = 0;

function watchReadable(stream: Readable | null, source: string): void {
  if (stream === null) return;
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk !== null) outputs.read(source, String(chunk));
    return push(chunk, encoding);
  };
}

function watchWritable(stream: Writable, source: string): void {
  const write = stream.write.bind(stream) as (...args: readonly unknown[]) => boolean;
  stream.write = ((chunk: unknown, ...rest: readonly unknown[]) => {
    outputs.read(source, String(chunk));
    return write(chunk, ...rest);
  }) as typeof stream.write;
}

if (prototype.spawn.isWatched !== true) {
  const spawn = prototype.spawn;
  const spawnWatched: Spawn = function (options) {
    const result = spawn.call(this, options);
    count += 1;
    const name = `process ${count} (${options.args?.slice(0, 4).join(' ')})`;
    watchReadable(this.stdout, `stdout of ${name}`);
    watchReadable(this.stderr, `stderr of ${name}`);
    return result;
  };
  prototype.spawn = Object.assign(spawnWatched, { isWatched: true as const });
  watchWritable(process.stdout, 'stdout of the test');
  watchWritable(process.stderr, 'stderr of the test');
}

afterAll(() => outputs.check());
