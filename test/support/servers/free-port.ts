import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those that a system gives to connections, and to servers that ask for any: 32768 on Linux. */
const [FIRST, LAST] = [20_000, 32_767];

/**
 * A port of loopback that nothing uses, for a server that must know its port before it starts. Only another caller of
 * this function could take it meanwhile. Servers that need not know take port 0.
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
