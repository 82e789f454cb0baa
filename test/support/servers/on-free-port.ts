import { freePort } from './free-port.js';

/** Ports that a start tries. */
const ATTEMPTS = 3;

/** Starts a server that `make` makes for a port. Another program may take a free port before the server does. */
export async function onFreePort<S extends { startAgain(): Promise<void> }>(
  make: (port: number) => S | Promise<S>,
): Promise<S> {
  for (let attempt = 1; ; attempt += 1) {
    const server = await make(await freePort());
    try {
      await server.startAgain();
      return server;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
