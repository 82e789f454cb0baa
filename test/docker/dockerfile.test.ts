import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { inContext, StagedImage } from './staged-image.js';

const dockerfile = readFileSync(fileURLToPath(new URL('../../Dockerfile', import.meta.url)), 'utf8');

it('the Dockerfile is well-formed', () => {
  expect(validate(dockerfile).map(({ message }) => message)).toEqual([]);
  expect(validate('FROM x\nCPY a b').map(({ message }) => message)).not.toEqual([]);
});

it('takes its base from one argument, pinned by digest', () => {
  const lines = dockerfile.split('\n');
  expect(lines.filter((line) => line.startsWith('ARG '))).toEqual([
    expect.stringMatching(/^ARG BASE_IMAGE=node:[\d.]+-[\w-]+@sha256:[0-9a-f]{64}$/),
  ]);
  const bases = lines.filter((line) => line.startsWith('FROM '));
  expect(bases).toHaveLength(3);
  expect(bases.filter((line) => !/^FROM \$\{BASE_IMAGE\}(?: AS \w+)?$/.test(line))).toEqual([]);
});

it('the build is sent no more than it needs', () => {
  expect(
    ['.git/HEAD', 'node_modules/x/y.js', 'packages/parley/dist/a.js', 'data/parley.db', 'test/a.test.ts'].filter(
      inContext,
    ),
  ).toEqual([]);
  expect(['package-lock.json', 'packages/parley/src/model/task.ts', 'scripts/start.mjs'].every(inContext)).toBe(true);
});

it('the build is sent every source that Git tracks', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const listed = execFileSync('git', ['ls-files', 'packages/parley/src', 'examples/agents/src'], { cwd: root });
  const sources = listed.toString().trim().split('\n');
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter((path) => !inContext(path))).toEqual([]);
});

describe('the image', { timeout: 120_000 }, () => {
  let image: StagedImage;
  beforeAll(() => {
    image = new StagedImage();
  }, 300_000);
  afterAll(() => image?.[Symbol.dispose]());

  /** Runs to its end; what it printed. */
  async function ran(command: readonly string[], env: Record<string, string>) {
    const child = image.run(command, { env });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(child, 'close');
    return { code: child.exitCode, output };
  }

  it('holds what runs, and little of it', () => {
    const files = readdirSync(image.path(), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    process.stdout.write(`image: ${Math.round(bytes / 1e5) / 10} MB in ${files.length} files on top of its base\n`);
    // A third of it are the packages of gRPC and Cap'n Web.
    expect(bytes).toBeLessThan(33_500_000);
    const unwanted =
      /node_modules\/(?:typescript|vitest|express|fastify)\/|(?:packages|examples)\/\w+\/src|tsbuildinfo/;
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
  });

  it('is not for root, keeps its data in a volume, and stops by a signal', () => {
    expect(Number(image.user)).toBeGreaterThan(0);
    expect(image.volumes).toEqual(['/app/data']);
    expect(image.stopSignal).toBe('SIGTERM');
    // The form with a shell would keep the signal to itself.
    expect(image.command[0]).toBe('node');
  });

  it('refuses to serve whoever comes unless it is told to', async () => {
    const { code, output } = await ran(image.command, { PORT: '0' });
    expect(output).toContain('A2A_ALLOW_ANONYMOUS=true');
    expect(code).toBe(1);
  });

  it('serves, is healthy, and ends what it does before it stops', async () => {
    const port = String(await freePort());
    const env = { PORT: port, A2A_ALLOW_ANONYMOUS: 'true', TCK_STREAMING_TIMEOUT: '0.2' };
    expect((await ran(image.healthCheck, env)).code).toBe(1);

    const server = image.run(image.command, { env });
    const closed = once(server, 'close');
    try {
      let output = '';
      const listening = new Promise<void>((resolve, reject) => {
        server.stdout.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes('"msg":"listening on')) resolve();
        });
        server.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
        server.once('close', () => reject(new Error(output)));
      });
      await listening;
      expect(await ran(image.healthCheck, env)).toEqual({ code: 0, output: '' });

      const stream = await fetch(`http://127.0.0.1:${port}/tck/message:stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({
          message: { messageId: 'test-resubscribe-message-id', role: 'ROLE_USER', parts: [{ text: 'x' }] },
        }),
      });
      expect(stream.status).toBe(200);
      server.kill(image.stopSignal as NodeJS.Signals);
      expect(await stream.text()).toContain('TASK_STATE_COMPLETED');
      await closed;
      expect(server.exitCode).toBe(0);
      expect(output).toContain('"msg":"stopped"');
    } finally {
      server.kill('SIGKILL');
    }
    const database = image.path('data/parley.db');
    expect(existsSync(database)).toBe(true);
    if (process.getuid?.() === 0) expect(String(statSync(database).uid)).toBe(image.user);
  });
});
