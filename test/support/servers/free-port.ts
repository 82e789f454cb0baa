import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those that a system gives to connections, and to servers that ask for any: 32768 on Linux. */
const [FIRST, LAST] = [20_000, 32_767];

/**
 * A port of loopback that nothing uses. A server that may choose takes port 0 instead: this port is free until its
 * server starts, unless another caller of this function finds the same one.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
