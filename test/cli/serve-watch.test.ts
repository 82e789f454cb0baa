import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, textOf } from 'parley-a2a';
import { describe, expect, it } from 'vitest';
import { EmptyFolder, parley, RunningParley } from './parley.js';

/** An agent whose turns end when its folder has the file `go`. It says the word of the module that it imports. */
const AGENT = `
import { existsSync } from 'node:fs';
import { word } from './word.ts';

const isThere = (name: string) => existsSync(new URL(name, import.meta.url));
export const agent = {
  resumable: true,
  async execute({ message, signal }, events) {
    if (message.parts[0].text === 'wait')
      while (!isThere('go')) {
        signal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    await events.complete(word);
  },
};
`;

class WatchedFolder extends EmptyFolder {
  constructor() {
    super();
    this.write('agent.ts', AGENT);
    this.say('one');
  }
  write(name: string, content: string): void {
    writeFileSync(join(this.path, name), content);
  }
  say(word: string): void {
    this.write('word.ts', `export const word = '${word}';\n`);
  }
}

/** The server of a folder. Its processes end with the first one, if that gets a signal that it can pass on. */
class WatchedServer extends RunningParley {
  constructor({ path }: EmptyFolder, more: readonly string[] = []) {
    super(['serve', 'agent.ts', '--watch', '--port', '0', ...more], { cwd: path });
  }
  /** The address, once the server has started so many times. */
  started(times: number): Promise<string> {
    return this.printed(new RegExp(`(?:^URL: (\\S+)$[^]*?){${times}}`, 'm'));
  }
  override async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

describe('parley serve --watch', () => {
  it.each([
    ['without a database', []],
    ['with a database', ['--database', 'sqlite:./tasks.db']],
  ])('%s serves what was changed, and a running task goes on', { timeout: 60_000 }, async (_, more) => {
    using folder = new WatchedFolder();
    await using running = new WatchedServer(folder, more);
    const client = await connect(await running.started(1));
    const before = await client.sendMessage('hello');
    const waiting = await client.sendMessage({ message: 'wait', configuration: { returnImmediately: true } });
    folder.say('two');
    await running.started(2);
    expect(textOf(await client.getTask(before.task?.id ?? ''))).toBe('one');
    folder.write('go', '');
    const ended = await client.waitFor(waiting.task?.id ?? '', { pollMs: 50 });
    expect([ended.status.state, textOf(ended)]).toEqual(['TASK_STATE_COMPLETED', 'two']);
  });

  it('waits for the repair of a module that does not load, and ends with its server', { timeout: 60_000 }, async () => {
    using folder = new WatchedFolder();
    await using running = new WatchedServer(folder);
    await running.started(1);
    folder.write('word.ts', 'export const word = ;');
    await running.told(/error: .*agent\.ts cannot be loaded: .*word\.ts:1: SyntaxError/);
    folder.say('three');
    const url = await running.started(2);
    const { task } = await (await connect(url)).ask('hello');
    expect(task && textOf(task)).toBe('three');
    expect((await running.stop('SIGINT')).code).toBe(0);
  });

  it('is for modules that are there, in one process', async () => {
    const refusals = [
      [['--echo'], '--watch goes with a module'],
      [['gone.ts'], 'there is no module gone.ts'],
      [['agent.ts', '--workers', '2'], '--watch and --workers exclude each other'],
    ] as const;
    for (const [args, text] of refusals) {
      const { code, stderr } = await parley(['serve', '--watch', ...args]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
    }
  });
});
