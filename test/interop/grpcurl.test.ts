import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createA2AServer } from 'parley-a2a/node';
import { grpcBinding } from 'parley-a2a-grpc';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasGo } from './go-tools.js';

const VERSION = 'v1.9.3';
const BUILD_MS = 600_000;
const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.cache', `grpcurl-${VERSION}`);

/** The program, which is built once. */
async function grpcurl(): Promise<string> {
  const program = join(folder, 'grpcurl');
  if (!existsSync(program)) {
    const source = `github.com/fullstorydev/grpcurl/cmd/grpcurl@${VERSION}`;
    await run('go', ['install', source], { env: { ...process.env, GOBIN: folder }, timeout: BUILD_MS });
  }
  return program;
}

/** Its compilation takes a minute of two cores, so that it is in the long form. */
const isLong = process.env.TEST_LONG !== undefined;

describe.runIf(isLong && hasGo())('grpcurl', () => {
  it('runs the command of the page about gRPC', { timeout: BUILD_MS }, async () => {
    const program = await grpcurl();
    const page = readFileSync(join(root, 'docs/grpc.md'), 'utf8');
    const [, command = ''] = /```sh\n(grpcurl [^`]*)```/.exec(page) ?? [];
    const server = createA2AServer({
      agent: (prompt: string) => `You said ${prompt}`,
      versions: ['1.0'],
      bindings: [grpcBinding({ port: 0 })],
    });
    onTestFinished(() => server.close({ graceMs: 0 }));
    await server.listen(0);
    const { url = '' } = server.interfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC') ?? {};
    const here = command.replace('127.0.0.1:8081', url).replace(/^grpcurl/, `'${program}'`);
    const { stdout } = await run('sh', ['-c', here]);
    expect(JSON.parse(stdout)).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'You said hi' }] }] },
    });
    const { stdout: listed } = await run(program, ['-plaintext', url, 'list']);
    expect(listed.trim().split('\n')).toContain('lf.a2a.v1.A2AService');
  });
});
