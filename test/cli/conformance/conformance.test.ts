import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentKinds, type LiveAgent } from '../agents/agents.js';
import { parley, parleyJson } from '../parley.js';
import { RecordingAgent } from '../recording-agent.js';

interface Report {
  readonly summary: { readonly pass: number; readonly fail: number; readonly skipped: number };
  readonly checks: readonly {
    readonly interface: string;
    readonly requirement: string;
    readonly status: string;
    readonly evidence: string;
  }[];
}

describe('CONFORM_001: conformance', () => {
  let agent: LiveAgent;
  beforeAll(async () => {
    agent = (await agentKinds()[0]?.start()) as LiveAgent;
  });
  afterAll(() => agent[Symbol.asyncDispose]());

  it('finds no fault in our server, over every interface', async () => {
    const { summary, checks } = await parleyJson<Report>(['conformance', '-a', agent.url]);
    expect(checks.filter(({ status }) => status === 'fail')).toEqual([]);
    expect(summary.pass).toBeGreaterThan(14);
    const checked = checks.filter(({ status }) => status === 'pass').map((check) => check.interface);
    const interfaces = ['JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3', 'HTTP+JSON 0.3'];
    expect(new Set(checked)).toEqual(new Set(['card', ...interfaces]));
    const { stdout, code } = await parley(['conformance', '-a', agent.url]);
    expect(stdout).toMatch(/^PASS: JSONRPC 1\.0: SendMessage answers with a task or a message \(.+\)$/m);
    expect(stdout).toMatch(/^Result: \d+ passed, 0 failed, \d+ skipped$/m);
    expect(code).toBe(0);
  });

  it('finds a declared capability that an agent lacks', async () => {
    await using broken = await RecordingAgent.start({ card: { capabilities: { streaming: true }, version: 1 } });
    const { stdout, code } = await parley(['conformance', '-a', broken.url, '-o', 'json', '--timeout', '10s']);
    const { checks } = JSON.parse(stdout) as Report;
    const failed = checks.filter(({ status }) => status === 'fail').map(({ requirement }) => requirement);
    expect(failed).toContain('the card follows the schema');
    expect(failed).toContain('GetTask of an unknown task is TaskNotFound');
    expect(code).toBe(1);
  });

  it('sends the credentials and headers of its flags to the agent', async () => {
    await using agent = await RecordingAgent.start();
    await parley(['conformance', '-a', agent.url, '--auth', 'Custom secret', '--svc-param', 'x-trace: 1']);
    expect(agent.calls.length).toBeGreaterThan(5);
    const sent = agent.calls.map(({ headers }) => [headers.authorization, headers['x-trace'], headers['a2a-version']]);
    expect(new Set(sent.map(String))).toEqual(new Set(['Custom secret,1,1.0']));
  });

  it('sends no credentials to an interface on another origin', async () => {
    await using stranger = await RecordingAgent.start();
    const supportedInterfaces = [{ url: `${stranger.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    await using agent = await RecordingAgent.start({ card: { supportedInterfaces } });
    await parley(['conformance', '-a', agent.url, '--auth', 'Custom secret']);
    expect(stranger.calls.length).toBeGreaterThan(5);
    expect(stranger.calls.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  });
});
