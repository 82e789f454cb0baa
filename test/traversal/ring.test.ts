import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callAgent } from '../../examples/agents/src/traversal-call.js';
import { traversalInstruction } from '../../examples/agents/src/traversal-descriptors.generated.js';
import type { CallAgent, Instruction } from '../../examples/agents/src/traversal-instruction.js';
import { HostProcess } from '../hosts/host-process.js';
import { freePort } from '../support/servers/free-port.js';

const { PYTHON_1_0, PYTHON_0_3 } = process.env;
const root = join(import.meta.dirname, '../..');
const server = (name: string) => join(import.meta.dirname, 'servers', name);
const descriptor = Buffer.from(toBinary(FileDescriptorProtoSchema, traversalInstruction.proto)).toString('base64');

const PEERS = {
  javascript: [process.execPath, server('javascript.mjs')],
  'javascript 0.3': [process.execPath, server('javascript-0-3.mjs')],
  ...(PYTHON_1_0 !== undefined && { python: [PYTHON_1_0, '-B', server('python.py')] }),
  ...(PYTHON_0_3 !== undefined && { 'python 0.3': [PYTHON_0_3, '-B', server('python-0-3.py')] }),
};
const BEHAVIOURS = {
  'one answer': {},
  'a stream': { streaming: true },
  'a webhook': { pushNotification: {} },
  'a new subscription': { streaming: true, resubscribe: {} },
} as const;

describe('a ring of traversal agents', () => {
  const hosts: HostProcess[] = [];
  const agents = new Map<string, string>();
  let hook: Hook;

  beforeAll(async () => {
    hook = await Hook.open();
    const [httpPort, grpcPort] = [await freePort(), await freePort()];
    const npm = [
      'npm',
      '--prefix',
      root,
      'run',
      '-s',
      'itk-agent',
      '--',
      '--httpPort',
      `${httpPort}`,
      '--grpcPort',
      `${grpcPort}`,
    ];
    const own = { command: npm, ready: /listening on/, endsItsChildren: true };
    await add('parley', HostProcess.start(own, httpPort));
    for (const [name, command] of Object.entries(PEERS)) {
      const env = { INSTRUCTION_DESCRIPTOR: descriptor, GRPC_PORT: String(await freePort()) };
      await add(name, HostProcess.start({ command, env, ready: /ready|Uvicorn running/ }));
    }
  });
  afterAll(async () => {
    for (const host of hosts) await host[Symbol.asyncDispose]();
    hook?.close();
    // npm ends before the agent does.
    const card = agents.get('parley') ?? '';
    const isServed = () =>
      fetch(card).then(
        () => true,
        () => false,
      );
    while (await isServed()) await pause(50);
  });

  async function add(name: string, started: Promise<HostProcess>): Promise<void> {
    const host = await started;
    hosts.push(host);
    agents.set(name, `${host.url}/.well-known/agent-card.json`);
  }

  it('has a card at the root with the addresses of the kit, in 1.0 and in 0.3', async () => {
    const url = agents.get('parley') ?? '';
    const base = new URL(url).origin;
    const card = (await (await fetch(url)).json()) as { supportedInterfaces: readonly Record<string, string>[] };
    const addresses = card.supportedInterfaces.map((one) => `${one.protocolVersion} ${one.protocolBinding} ${one.url}`);
    for (const version of ['1.0', '0.3']) {
      expect(addresses).toContain(`${version} JSONRPC ${base}/jsonrpc`);
      expect(addresses).toContain(`${version} HTTP+JSON ${base}/rest`);
      expect(addresses.filter((address) => address.startsWith(`${version} GRPC `))).toHaveLength(1);
    }
    const call = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'none' } };
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    for (const path of ['/jsonrpc', '/jsonrpc/']) {
      const answer = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(call) });
      expect(await answer.json()).toMatchObject({ error: { code: -32001 } });
    }
    const old = await fetch(url, { headers: { 'a2a-version': '0.3' } });
    expect(await old.json()).toMatchObject({ protocolVersion: '0.3.0', url: `${base}/jsonrpc` });
  });

  describe.each([
    ['jsonrpc', '1.0'],
    ['http_json', '1.0'],
    ['grpc', '1.0'],
    ['jsonrpc', '0.3'],
    ['http_json', '0.3'],
    ['grpc', '0.3'],
  ])('over %s of %s', (transport, version) => {
    it.each(Object.entries(BEHAVIOURS))('returns the texts of all agents by %s', async (_, behaviour) => {
      const marker = crypto.randomUUID();
      const told = 'pushNotification' in behaviour ? { pushNotification: { url: hook.url(marker) } } : behaviour;
      const holdTask = 'resubscribe' in behaviour;
      const isOld = version === '0.3';
      const names = [...agents.keys(), 'parley'].filter((name) => name === 'parley' || name.endsWith('0.3') === isOld);
      const call = names.reduceRight<CallAgent | undefined>((next, name) => {
        const says: Instruction = { returnResponse: { response: `${name} ${marker}`, ...(holdTask && { holdTask }) } };
        const instructions = [says, ...(next === undefined ? [] : [{ callAgent: next }])];
        return { transport, agentCardUri: agents.get(name) ?? '', instruction: { steps: { instructions } }, ...told };
      }, undefined);
      const texts = await callAgent(call ?? {}, AbortSignal.timeout(50_000));
      expect(texts.join('\n').split('\n')).toEqual(names.map((name) => `${name} ${marker}`));
      if ('pushNotification' in behaviour) await hook.waitForCompleted(marker, names.length);
    });
  });
});

/** Receives push notifications. Each ring has a path of its own. */
class Hook {
  readonly #calls: { readonly path: string; readonly token: unknown; readonly body: string }[] = [];
  readonly #server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const token = request.headers['x-a2a-notification-token'] ?? request.headers['a2a-notification-token'];
    this.#calls.push({ path: request.url ?? '', token, body });
    response.end();
    this.#arrived();
  });
  #arrived = (): void => {};

  static async open(): Promise<Hook> {
    const hook = new Hook();
    await new Promise<void>((listening) => hook.#server.listen(0, '127.0.0.1', listening));
    return hook;
  }

  url(marker: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${marker}`;
  }

  /** Resolves when as many tasks have told that they are completed, with the token of the kit. */
  async waitForCompleted(marker: string, tasks: number): Promise<void> {
    const ids = () => {
      const calls = this.#calls.filter(({ path }) => path === `/${marker}/notifications`);
      for (const { token } of calls) expect(token).toBe('itk-token');
      const done = calls.filter(({ body }) => /"(?:TASK_STATE_COMPLETED|completed)"/.test(body));
      return new Set(done.map(({ body }) => /"(?:taskId|id)": ?"([^"]+)"/.exec(body)?.[1]));
    };
    while (ids().size < tasks) {
      await new Promise<void>((arrived) => {
        this.#arrived = arrived;
      });
    }
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
