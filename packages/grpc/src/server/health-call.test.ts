import { expect, it } from 'vitest';
import { ManualClock } from '../../../parley/test/manual-clock.js';
import { GrpcHealth, type HealthWatch, MOST_WATCHERS } from './health-call.js';

function health() {
  const clock = new ManualClock();
  return new GrpcHealth({ isReady: async () => true, services: [], clock });
}

/** A watch of an address, and whether it had to make room. */
class Watch implements HealthWatch {
  readonly service = '';
  readonly peer: string;
  hasMadeRoom = false;

  constructor(peer: string) {
    this.peer = peer;
  }

  tell(): void {}

  makeRoom(): void {
    this.hasMadeRoom = true;
  }
}

it('an address with the most watches makes room for others, and gets no further one', () => {
  const source = health();
  const other = new Watch('192.0.2.2');
  expect(source.add(other)).toBe(true);
  const many = Array.from({ length: MOST_WATCHERS - 1 }, () => new Watch('192.0.2.1'));
  expect(many.every((one) => source.add(one))).toBe(true);
  expect(source.add(new Watch('192.0.2.1'))).toBe(false);
  expect(source.add(new Watch('192.0.2.2'))).toBe(true);
  expect(source.add(new Watch('192.0.2.3'))).toBe(true);
  expect(many.map(({ hasMadeRoom }) => hasMadeRoom).slice(0, 4)).toEqual([true, true, false, false]);
  expect(other.hasMadeRoom).toBe(false);
  source.stop();
});
