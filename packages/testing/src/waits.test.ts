import { describe, expect, it } from 'vitest';
import { wait, waitFor } from './index.js';

describe('waitFor', () => {
  it('resolves to what the predicate returns once that is true', async () => {
    let looks = 0;
    expect(await waitFor(() => ++looks === 3 && 'third', { intervalMs: 1 })).toBe('third');
  });

  it('names what it waited for, with the last error as its cause', async () => {
    const fails = () => {
      throw new Error('not there');
    };
    const waiting = waitFor(fails, { timeoutMs: 20, intervalMs: 5, what: 'the file' });
    await expect(waiting).rejects.toThrow('waited 20 ms in vain for: the file');
    await expect(waiting).rejects.toMatchObject({ cause: { message: 'not there' }, timeoutMs: 20 });
    await expect(waitFor(() => 1 > 2, { timeoutMs: 1 })).rejects.toThrow(/1 > 2/);
  });

  it('ends though its predicate never answers', async () => {
    await expect(waitFor(() => new Promise(() => {}), { timeoutMs: 10 })).rejects.toThrow(/waited 10 ms/);
  });
});

it('wait takes real time', async () => {
  const before = performance.now();
  await wait(15);
  expect(performance.now() - before).toBeGreaterThanOrEqual(14);
});
