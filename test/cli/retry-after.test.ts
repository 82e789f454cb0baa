import { expect, it } from 'vitest';
import { parley } from './parley.js';
import { RecordingAgent } from './recording-agent.js';

it.each(['99999999999', '-5', 'NaN', '1e400', 'Fri, 31 Dec 9999 23:59:59 GMT', '0x10', ' '])(
  'an agent with Retry-After "%s" causes neither a wait beyond --timeout nor a burst of requests',
  async (retryAfter) => {
    const headers = { 'retry-after': retryAfter };
    await using agent = await RecordingAgent.start({ answer: () => ({ status: 503, headers, body: {} }) });
    for (const command of [
      ['send', 'x'],
      ['task', 'get', 't1', '--wait'],
    ]) {
      const { code, stderr } = await parley([...command, '-a', agent.url, '--timeout', '1500ms']);
      expect([3, 5]).toContain(code);
      expect(stderr).not.toMatch(/Warning|\n {4}at /);
    }
    expect(agent.calls.length).toBeLessThan(20);
  },
);
