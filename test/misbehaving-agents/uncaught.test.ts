import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';

// Processes that start and end, on machines that have other things to do.
vi.setConfig({ testTimeout: 60_000 });

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** A program with a server that listens, whose agent throws in a timer and whose own code may do so too. */
const program = (own: string) => `
  import { createA2AServer } from 'parley-a2a/node';
  const later = (error) => setTimeout(() => { throw error; }, 5);
  const logger = { debug() {}, info() {}, warn() {}, error(message) { console.log('logged', message); } };
  const server = createA2AServer({ logger, agent: () => { later(new Error('of the agent')); return new Promise(() => {}); } });
  const { url } = await server.listen(0);
  const send = async () => {
    const response = await fetch(url + '/a2a/rest/message:send', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } }),
    });
    console.log((await response.json()).task.status.state);
  };
  ${own}
`;

/** The exit code and the output of the process. */
function run(own: string): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', program(own)], { cwd: HERE }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

const LOGGED = 'logged agent threw outside of its promise\nTASK_STATE_FAILED\n';

it('an error of an agent fails its task, one of the program itself ends the process with its own stack', async () => {
  const { code, stdout, stderr } = await run(`await send(); await send(); later(new Error('of the program'));`);
  expect(stdout).toBe(LOGGED + LOGGED);
  expect(code).toBe(1);
  expect(stderr).toMatch(/Error: of the program\n +at /);
});

it('so does a rejection that nobody handles, and whatever else is thrown', async () => {
  const rejected = await run(`await send(); Promise.reject(new Error('of the program'));`);
  expect([rejected.code, rejected.stdout]).toEqual([1, LOGGED]);
  expect(rejected.stderr).toContain('Error: of the program');
  const nothing = await run('later(undefined);');
  expect(nothing.code).not.toBe(0);
});

it('a listener of the program hears both and decides', async () => {
  const { code, stdout } = await run(`
    process.on('uncaughtException', (error) => console.log('heard', error.message));
    await send();
    later(new Error('of the program'));
    setTimeout(() => server.close({ graceMs: 0 }), 20);
  `);
  expect(stdout).toContain('heard of the agent');
  expect(stdout).toContain('heard of the program');
  expect(stdout).toContain('TASK_STATE_FAILED');
  expect(code).toBe(0);
});

it('a server that is closed leaves nothing behind in the process', async () => {
  const { code, stdout } = await run(`
    const second = createA2AServer({ logger, agent: () => 'hi' });
    await second.listen(0);
    const count = () => String(process.listenerCount("uncaughtException"));
    console.log(count());
    await server.close();
    console.log(count());
    await second.close();
    console.log(count());
  `);
  expect([code, stdout]).toEqual([0, '1\n1\n0\n']);
});
