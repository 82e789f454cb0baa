import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EmptyFolder, parley, parleyJson, ServedAgent } from './parley.js';

async function listen(answer: RequestListener): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

describe('parley doctor', () => {
  it('checks the machine, and changes nothing', async () => {
    using folder = new EmptyFolder();
    const { code, stdout } = await parley(['doctor', '--port', '0'], { cwd: folder.path });
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/^Node\.js: v\d+\.\d+\.\d+, with SQLite$/m);
    expect(stdout).toMatch(/^PostgreSQL: (?:installed|not installed; npm install --global pg adds it)$/m);
    expect(stdout).toMatch(/^Port 0: free$/m);
    expect(stdout).toMatch(/^Database: \.\/data\/parley\.db is not there yet; a server creates it$/m);
    const again = await parley(['doctor', '--port', '0'], { cwd: folder.path });
    expect(again.stdout).toBe(stdout);
  });

  it('reports a port in use, and suggests another one', async () => {
    const { server, port } = await listen((_, response) => response.end());
    const { code, stdout } = await parley(['doctor', '--port', String(port)]);
    server.close();
    expect(code).toBe(0);
    expect(stdout).toContain(`Port ${port}: warning: a program listens on it already\n  To do: parley serve --port`);
  });

  it('reports an unreadable database and packages of two versions as problems', async () => {
    using folder = new EmptyFolder();
    writeFileSync(join(folder.path, 'tasks.db'), 'no database');
    for (const [name, version] of [
      ['parley-a2a', '1.0.0'],
      ['parley-a2a-grpc', '1.1.0'],
    ] as const) {
      mkdirSync(join(folder.path, 'node_modules', name), { recursive: true });
      writeFileSync(join(folder.path, 'node_modules', name, 'package.json'), JSON.stringify({ version }));
    }
    const { code, stdout } = await parley(['doctor', '--port', '0', '--database', 'sqlite:tasks.db'], {
      cwd: folder.path,
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Database: problem: /m);
    expect(stdout).toContain('Packages of this folder: problem: parley-a2a 1.0.0; parley-a2a-grpc 1.1.0\n  To do: ');
  });

  it('skips a package with an unreadable manifest', async () => {
    using folder = new EmptyFolder();
    mkdirSync(join(folder.path, 'node_modules/parley-a2a'), { recursive: true });
    writeFileSync(join(folder.path, 'node_modules/parley-a2a/package.json'), '{');
    const { code, stdout } = await parley(['doctor', '--port', '0'], { cwd: folder.path });
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toContain('Packages of this folder: 1 of version ');
    expect(stdout).toMatch(/^Database: /m);
  });

  it('checks an agent', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo']);
    const { code, stdout } = await parley(['doctor', agent.url, '--port', '0']);
    expect(code).toBe(0);
    expect(stdout).toContain('Card: follows the schema\n');
    expect(stdout).toMatch(/^Agent: .+ at http:\/\/127\.0\.0\.1:\d+\S*, over \S+ 1\.0, answers$/m);
    expect(stdout).toContain('Clock: agrees with that of the agent\n');
    const { findings } = (await parleyJson(['doctor', agent.url, '--port', '0'])) as {
      readonly findings: readonly { readonly check: string; readonly state: string }[];
    };
    expect(findings.find(({ check }) => check === 'Agent')).toMatchObject({ state: 'ok' });
  });

  it('names the schemes of a protected agent, and reports an unreachable one', async () => {
    using folder = new EmptyFolder();
    const keys = join(folder.path, 'keys.json');
    await parley(['keys', 'create', 'ada', '--api-keys-file', keys]);
    let url: string;
    {
      await using agent = await ServedAgent.start(['serve', '--echo', '--api-keys-file', keys]);
      url = agent.url;
      const { code, stdout } = await parley(['doctor', url, '--port', '0']);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Agent: warning: .+\n {2}To do: the agent takes --api-key/m);
    }
    const { code, stdout } = await parley(['doctor', url, '--port', '0']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Agent: problem: /m);
  });

  it('reports a clock skew', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo']);
    const { server, port } = await listen(async (request, response) => {
      const body: Buffer[] = [];
      for await (const piece of request) body.push(piece as Buffer);
      const { method = 'GET', url = '', headers } = request;
      const answer = await fetch(new URL(url, agent.url), {
        method,
        headers: { 'content-type': headers['content-type'] ?? '', 'a2a-version': '1.0' },
        ...(body.length > 0 && { body: Buffer.concat(body) }),
      });
      const text = (await answer.text()).replaceAll(new URL(agent.url).host, `127.0.0.1:${port}`);
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? '',
        date: new Date(Date.now() - 3_600_000).toUTCString(),
      });
      response.end(text);
    });
    const { code, stdout } = await parley(['doctor', `http://127.0.0.1:${port}`, '--port', '0']);
    server.close();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Clock: warning: differs from that of the agent by 3(?:599|600|601) s\n {2}To do: /m);
  });
});
