import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { RunningParley } from '../cli/parley.js';
import { type BoundAgent, MountedAgent } from '../hosts/mounted-agent.js';
import { type Body, type Frame, sendParams } from '../interop/wire.js';
import { processesOf } from '../support/workers.js';

const AGENT = fileURLToPath(new URL('counting-agent.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('listening-program.mjs', import.meta.url));

/** Less than the time of a test, so that a failure tells what the caller has seen. */
const STUCK_MS = 80_000;

/** Runs the program with `listen`. */
export function listeningProgram(...args: readonly string[]): RunningParley {
  return new RunningParley(args, { program: PROGRAM, env: { NODE_OPTIONS: '' } });
}

/** Waits until a condition holds. */
export const until = async (isTrue: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 10));
};

/** A task as its caller has seen it. */
export interface Seen {
  readonly id: string;
  readonly frames: readonly Frame[];
}

/** The agent that counts in two workers, and calls to it on new connections. */
export class CountingServer implements AsyncDisposable {
  readonly running: RunningParley;
  readonly #agent: BoundAgent;
  readonly url: string;
  /** Messages that were sent again. */
  repeats = 0;

  private constructor(running: RunningParley, url: string, agent: BoundAgent) {
    this.running = running;
    this.url = url;
    this.#agent = agent;
  }

  /** `parley serve --workers 2`. */
  static start(database: string, ...flags: readonly string[]): Promise<CountingServer> {
    const args = ['serve', AGENT, '--workers', '2', '--port', '0', '--database', database, ...flags];
    return CountingServer.#at(new RunningParley(args, { env: { NODE_OPTIONS: '' } }));
  }

  /**
   * A program that calls `listen` with two workers. A database `none` is a server without a storage. Each process loads
   * the module first.
   */
  static startListening(database: string, ...module: readonly string[]): Promise<CountingServer> {
    return CountingServer.#at(listeningProgram(database, '2', ...module));
  }

  static async #at(running: RunningParley): Promise<CountingServer> {
    const url = await running.waitForStdout(/^URL: (\S+)$/m);
    const server = new CountingServer(running, url, (await MountedAgent.at(url)).over('HTTP+JSON'));
    // The second worker starts when the first one listens. The pauses grow, so that its start takes few calls.
    for (let pauseMs = 10; (await server.bothAnswer()).size < 2; pauseMs *= 1.5) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return server;
  }

  get pids(): ReturnType<typeof processesOf> {
    return processesOf(this.running);
  }

  /** The processes that answer two calls on new connections. */
  async bothAnswer(): Promise<ReadonlySet<number>> {
    return new Set([await this.countAnswering(), await this.countAnswering()]);
  }

  /** The process that answers a call. A caller repeats a message that the server asks to repeat. */
  async countAnswering(): Promise<number> {
    const message = sendParams('process');
    for (;;) {
      const answer = await this.#agent.send(message, { headers: { connection: 'close' } });
      if (answer.task !== undefined) return Number(numbersOf(answer.task as Body)[0]);
      const { status } = answer.error as { readonly status?: string };
      if (status !== 'UNAVAILABLE') throw new Error(`No task: ${JSON.stringify(answer)}`);
      this.repeats += 1;
    }
  }

  /** The id of the task of a message that is the same in each call. */
  async sendRepeated(): Promise<string> {
    const message = sendParams('process', { messageId: 'repeated' });
    const { task } = await this.#agent.send(message, { headers: { connection: 'close' } });
    return String((task as Body).id);
  }

  task(id: string): Promise<Body> {
    return this.#agent.get(id);
  }

  /**
   * Counts in one task. A caller repeats a message without an answer, and subscribes again behind its last event. It
   * tells of the first event with `onFrame`.
   */
  async count(last: number, onFrame: (frame: Frame) => void = () => {}): Promise<Seen> {
    const message = sendParams(`count ${last}`, { messageId: randomUUID() });
    const frames: Frame[] = [];
    let id: string | undefined;
    let cut: unknown;
    const stuck = new Promise<never>((_, reject) => {
      const tell = () => new Error(`Task ${id} has ${frames.length} events and no end`, { cause: cut });
      setTimeout(() => reject(tell()), STUCK_MS).unref();
    });
    const follow = async (): Promise<Seen> => {
      for (;;) {
        try {
          const stream = id === undefined ? this.#agent.stream(message) : this.#agent.subscribe(id, frames.at(-1)?.id);
          for await (const frame of stream) {
            const { task, statusUpdate } = this.#agent.event(frame) as { task?: Body; statusUpdate?: Body };
            // A stream that begins with an error names no task.
            if (task !== undefined) id ??= String(task.id);
            frames.push(frame);
            onFrame(frame);
            const status = (task?.status ?? statusUpdate?.status) as { readonly state?: string } | undefined;
            const isOver = /COMPLETED|FAILED|CANCELED/.test(String(status?.state));
            if (isOver && id !== undefined) return { id, frames };
          }
        } catch (error) {
          // Cut by a kill, or refused while there is no storage.
          cut = error;
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    return Promise.race([follow(), stuck]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.running[Symbol.asyncDispose]();
  }
}

/** The numbers that a task has counted. */
export function numbersOf(task: Body): readonly string[] {
  const artifacts = (task.artifacts ?? []) as unknown as readonly {
    readonly parts: readonly { readonly text: string }[];
  }[];
  return artifacts.map(({ parts }) => String(parts[0]?.text));
}

/** The numbers to the last one, as a task has them. */
export const upTo = (last: number) => Array.from({ length: last }, (_, at) => String(at + 1));

/** The caller has seen each event once, in order, and the storage has the same. */
export async function expectWhole(server: CountingServer, { id, frames }: Seen, last: number): Promise<void> {
  expect(frames.map((frame) => Number(frame.id))).toEqual(frames.map((_, at) => at + 1));
  const task = await server.task(id);
  expect({ ...task, numbers: numbersOf(task) }).toMatchObject({
    status: { state: 'TASK_STATE_COMPLETED' },
    numbers: upTo(last),
  });
}
