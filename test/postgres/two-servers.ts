import { connect, createA2AServer, type StreamResponse, silentLogger } from 'parley-a2a';
import type { TaskStorage } from 'parley-a2a/storage';

/** Two servers on two storages of one database. Their agent waits for `open` if the message is `wait`. */
export class TwoServers implements AsyncDisposable {
  readonly #closers: (() => Promise<void>)[] = [];
  readonly clients: Awaited<ReturnType<typeof connect>>[] = [];
  readonly #gate = Promise.withResolvers<void>();

  static async start(storages: readonly TaskStorage[]): Promise<TwoServers> {
    const servers = new TwoServers();
    for (const storage of storages) {
      const server = createA2AServer({
        logger: silentLogger,
        storage,
        agent: {
          execute: async ({ text, signal }, events) => {
            await events.working();
            if (text === 'wait') {
              await Promise.race([servers.#gate.promise, new Promise((end) => signal.addEventListener('abort', end))]);
            }
            if (!signal.aborted) await events.complete(`done: ${text}`);
          },
        },
      });
      const { url } = await server.listen(0);
      servers.clients.push(await connect(url));
      servers.#closers.push(async () => {
        await server.close({ graceMs: 0 });
        await storage.close();
      });
    }
    return servers;
  }

  /** Lets the waiting agents complete their tasks. */
  open(): void {
    this.#gate.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.open();
    for (const close of this.#closers) await close();
  }
}

/** A message with a text. */
export const newMessage = (text: string) =>
  ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }) as const;

/** Returns the states in the events of a stream. */
export async function statesOf(stream: AsyncIterable<StreamResponse>): Promise<string[]> {
  const states: string[] = [];
  for await (const event of stream) {
    if (event.task !== undefined) states.push(event.task.status.state);
    if (event.statusUpdate !== undefined) states.push(event.statusUpdate.status.state);
  }
  return states;
}
