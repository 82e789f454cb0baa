import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, textOf } from 'parley-a2a';
import { describe, expect, it } from 'vitest';
import { EmptyFolder, parley, RunningParley } from './parley.js';

/** An agent that answers with the word of an imported module. A waiting turn ends once its folder has the file `go`. */
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

/** The server of a folder. It is stopped by SIGTERM, because its first process must end the others. */
class WatchedServer extends RunningParley {
  constructor({ path }: EmptyFolder, more: readonly string[] = []) {
    super(['serve', 'agent.ts', '--watch', '--port', '0', ...more], { cwd: path });
  }
  /** Resolves to the address once the server has started `times` times. */
  waitForStart(times: number): Promise<string> {
    return this.waitForStdout(new RegExp(`(?:^URL: (\\S+)$[^]*?){${times}}`, 'm'));
  }
  override async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

describe('parley serve --watch', () => {
  it.each([
    ['without a database', []],
    ['with a database', ['--database', 'sqlite:./tasks.db']],
  ])('%s serves the changed module, and a running task continues', { timeout: 60_000 }, async (_, more) => {
    using folder = new WatchedFolder();
    await using running = new WatchedServer(folder, more);
    const client = await connect(await running.waitForStart(1));
    const before = await client.sendMessage('hello');
    const waiting = await client.sendMessage({ message: 'wait', configuration: { returnImmediately: true } });
    folder.say('two');
    await running.waitForStart(2);
    expect(textOf(await client.getTask(before.task?.id ?? ''))).toBe('one');
    folder.write('go', '');
    const ended = await client.waitFor(waiting.task?.id ?? '', { pollMs: 50 });
    expect([ended.status.state, textOf(ended)]).toEqual(['TASK_STATE_COMPLETED', 'two']);
  });

  it('waits for the next change of a module that does not load, and stops with its server', {
    timeout: 60_000,
  }, async () => {
    using folder = new WatchedFolder();
    await using running = new WatchedServer(folder);
    await running.waitForStart(1);
    folder.write('word.ts', 'export const word = ;');
    await running.waitForStderr(/error: .*agent\.ts cannot be loaded: .*word\.ts:1: SyntaxError/);
    folder.say('three');
    const url = await running.waitForStart(2);
    const { task } = await (await connect(url)).ask('hello');
    expect(task && textOf(task)).toBe('three');
    expect((await running.stop('SIGINT')).code).toBe(0);
  });

  it('needs an existing module, and excludes --workers', async () => {
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
