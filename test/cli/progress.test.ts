import { describe, expect, it } from 'vitest';
import { makeAuthority } from '../credentials/certificates.js';
import { startTlsAgent } from '../credentials/tls-agent.js';
import { parley } from './parley.js';
import { PseudoTerminal, terminalCases } from './pseudo-terminal.js';
import { type Answer, RecordingAgent, result, stream } from './recording-agent.js';

const task = (state: string, said?: string) => ({
  id: 't-1',
  contextId: 'c-1',
  status: {
    state: `TASK_STATE_${state}`,
    ...(said !== undefined && { message: { messageId: said, role: 'ROLE_AGENT', parts: [{ text: said }] } }),
  },
});

describe('the progress line', () => {
  it.for(terminalCases())('follows the state of the task and the last status text of the agent', async () => {
    let shown = task('SUBMITTED');
    await using agent = await RecordingAgent.start({
      answer: ({ body }) => result(body.method === 'GetTask' ? shown : { task: shown }),
    });
    await using terminal = new PseudoTerminal([
      'send',
      'x',
      '-a',
      agent.url,
      '--poll-interval',
      '50ms',
      '--timeout',
      '60s',
    ]);
    await terminal.shows(/submitted · \d+ s/);
    shown = task('WORKING', 'Fetching\n17 pages');
    await terminal.shows(/working: Fetching 17 pages · \d+ s/);
    shown = task('WORKING', 'Writing');
    await terminal.shows(/working: Writing · \d+ s/);
    shown = task('COMPLETED');
    await terminal.shows(/State: COMPLETED/);
  });
});

describe('a lost connection', () => {
  it('is reported on stderr with the number of the attempt, and so is the reconnection', async () => {
    let subscriptions = 0;
    const answer: Answer = ({ body }) => {
      if (body.method === 'SendStreamingMessage') return stream({ task: task('WORKING') });
      if (body.method === 'GetTask') return result(task('WORKING'));
      subscriptions += 1;
      return subscriptions < 2
        ? { status: 503, body: {} }
        : stream({ task: task('WORKING') }, { task: task('COMPLETED') });
    };
    await using agent = await RecordingAgent.start({ card: { capabilities: { streaming: true } }, answer });
    const { stdout, stderr, code } = await parley(['send', 'x', '--stream', '-o', 'json', '-a', agent.url]);
    expect(stderr).toMatch(/^Connection lost: .+\. Attempt 1 of \d+ in \d+\.\d s\.$/m);
    expect(stderr).toMatch(/^Connected again, by attempt \d+\.$/m);
    expect(stdout).not.toContain('Connection');
    expect(code).toBe(0);
  });
});

describe('the error names the cause', () => {
  it('nothing listens, or the port has no TLS', async () => {
    const gone = await RecordingAgent.start();
    await gone[Symbol.asyncDispose]();
    const nobody = await parley(['card', 'get', gone.url]);
    expect(nobody.stderr).toMatch(/A2ACLI_ERR_UNREACHABLE: .*nothing listens there/);
    await using agent = await RecordingAgent.start();
    const { stderr, code } = await parley(['card', 'get', agent.url.replace('http:', 'https:')]);
    expect(stderr).toMatch(/A2ACLI_ERR_UNREACHABLE: .*use http instead of https/);
    expect(stderr).not.toContain('UND_ERR');
    expect(code).toBe(3);
  });

  it('the port requires TLS', async () => {
    const agent = await startTlsAgent({ authority: makeAuthority('Test authority'), requires: false });
    try {
      const { stderr, code } = await parley(['send', 'x', '-a', agent.url.replace('https:', 'http:')]);
      expect(stderr).toMatch(/A2ACLI_ERR_UNREACHABLE: .*use https instead of http/);
      expect(code).toBe(3);
    } finally {
      await agent.close();
    }
  });
});
