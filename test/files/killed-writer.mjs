// Stores one file, begins another one, and tells both ids when bytes of the second one are on the disk.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { directoryFileStore } from '../../packages/parley/dist/exports/files.js';

const [path, whole, half] = process.argv.slice(2);
const store = directoryFileStore({ path });
const scope = { agent: '/', tenant: '', owner: 'ada' };
const limits = { maxBytes: 1e8, ownerBytes: 1e9 };
const about = { createdAt: Date.now(), expiresAt: Date.now() + 3_600_000 };
const finish = () => ({ mediaType: 'text/plain', digest: 'x' });

await store.put(scope, { ...about, id: whole, chunks: one(Buffer.from('whole')), finish }, limits);
void store.put(scope, { ...about, id: half, chunks: many(), finish }, limits);

async function* one(bytes) {
  yield bytes;
}

/** Bytes without an end. */
async function* many() {
  const [owner] = readdirSync(path);
  const folder = join(path, owner, readdirSync(join(path, owner))[0]);
  let isTold = false;
  for (;;) {
    yield Buffer.alloc(1_048_576);
    const name = readdirSync(folder).find((one) => one.startsWith(half));
    if (isTold || name === undefined || statSync(join(folder, name)).size === 0) continue;
    isTold = true;
    process.send?.([whole, half]);
    // Waits to be killed.
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  }
}
