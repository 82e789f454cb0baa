import { expect, it, vi } from 'vitest';
import { ManualClock } from '../../test/manual-clock.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { silentLogger } from '../telemetry/logger.js';
import { RetentionSweeper } from './retention-sweeper.js';

function sweeper() {
  const clock = new ManualClock();
  const storage = new MemoryStorage({ clock });
  const sweep = vi.spyOn(storage, 'sweep');
  return { clock, sweep, sweeper: new RetentionSweeper({ storage, clock, logger: silentLogger }) };
}

it('sweeps every minute, and soon again while there is more', async () => {
  const { clock, sweep, sweeper: own } = sweeper();
  own.start();
  await clock.advance(59_999);
  expect(sweep).not.toHaveBeenCalled();
  sweep.mockResolvedValueOnce({ tasks: 500, records: 0, keys: 0, more: true });
  await clock.advance(1);
  await clock.advance(10);
  expect(sweep).toHaveBeenCalledTimes(2);
  await clock.advance(10);
  expect(sweep).toHaveBeenCalledTimes(2);
  await own.stop();
});

it('does not begin after a stop', async () => {
  const { clock, sweep, sweeper: own } = sweeper();
  own.start();
  await own.stop();
  await clock.advance(600_000);
  expect(sweep).not.toHaveBeenCalled();
});

it('does not sweep after a stop, which waits for a sweep that runs', async () => {
  const { clock, sweep, sweeper: own } = sweeper();
  own.start();
  const running = Promise.withResolvers<Awaited<ReturnType<MemoryStorage['sweep']>>>();
  sweep.mockReturnValueOnce(running.promise);
  await clock.advance(60_000);
  let hasStopped = false;
  const stopped = own.stop().then(() => (hasStopped = true));
  await clock.settle();
  expect(hasStopped).toBe(false);
  running.resolve({ tasks: 0, records: 0, keys: 0, more: true });
  await stopped;
  await clock.advance(600_000);
  expect(sweep).toHaveBeenCalledTimes(1);
});
