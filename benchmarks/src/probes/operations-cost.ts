import { Agent, request } from 'node:http';
import { ChildProgram } from '../run/child-program.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import { type Measured, ProbedServer, prompted } from './probed-server.js';

const REQUESTS = 200_000;
const WARM_UP = 20_000;
const AT_ONCE = 16;

/** A page of another origin asks, by a client that takes compressed answers. */
const HEADERS = {
  'content-type': 'application/json',
  'a2a-version': '1.0',
  'accept-encoding': 'gzip, deflate, br',
  origin: 'https://page.example',
};

/**
 * Measures the cost of metrics, ids and log lines: CPU time per request with all of them on, against all of them off.
 */
export async function measureOperationsCost(core: number | undefined): Promise<Measured> {
  await using off = new ChildProgram<SubjectMessage>({ program: 'subjects/switched-parley', args: ['off'], core });
  await using on = new ChildProgram<SubjectMessage>({ program: 'subjects/switched-parley', args: ['on'], core });
  const ports = [(await off.next('ready')).port, (await on.next('ready')).port] as const;
  const servers = [new ProbedServer('memory', off, ports[0]), new ProbedServer('memory', on, ports[1])] as const;
  await alternately(ports, WARM_UP);
  const before = await Promise.all(servers.map((server) => server.usage()));
  await alternately(ports, REQUESTS);
  const after = await Promise.all(servers.map((server) => server.usage()));
  const [without = Number.NaN, withAll = Number.NaN] = after.map(
    ({ cpuMicros }, at) => (cpuMicros - (before[at]?.cpuMicros ?? 0)) / (REQUESTS / 2),
  );
  const detail = `${without.toFixed(1)} µs of CPU per request without, ${withAll.toFixed(1)} with, ${REQUESTS} requests`;
  return { value: withAll / without, detail };
}

/** Sends requests to one port after the other, several at once. */
async function alternately(ports: readonly number[], requests: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  let sent = 0;
  const lane = async () => {
    while (sent < requests) await answered(agent, ports[sent++ % ports.length] ?? 0);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  agent.destroy();
}

function answered(agent: Agent, port: number): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: prompted('hello') });
  const headers = { ...HEADERS, 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/', method: 'POST', agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (data: string) => {
        text += data;
      });
      answer.on('end', () => (text.includes('"message"') ? resolve() : reject(new Error(text))));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
