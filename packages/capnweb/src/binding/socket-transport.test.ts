import type { SocketPort, SocketReceiver } from 'parley-a2a/binding-kit';
import { expect, it } from 'vitest';
import { ManualClock } from '../../../parley/test/manual-clock.js';
import { DEFAULT_SESSION_LIMITS, transportLimits } from './session-limits.js';
import { SocketTransport } from './socket-transport.js';

/** A socket whose peer sends as told. */
class PeerSocket implements SocketPort {
  readonly bufferedAmount = 0;
  isPaused = false;
  closedWith: string | undefined;
  #receiver: SocketReceiver | undefined;

  send(): void {}
  terminate(): void {}
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  close(_code: number, reason: string): void {
    this.closedWith = reason;
  }
  receive(receiver: SocketReceiver): void {
    this.#receiver = receiver;
  }
  peerSends(text: string): void {
    this.#receiver?.message(text);
  }
}

it('a peer that sends many frames at once leaves every other connection its turn', async () => {
  const socket = new PeerSocket();
  const clock = new ManualClock();
  const limits = transportLimits(DEFAULT_SESSION_LIMITS, { bodyBytes: 4_000, jsonItems: 1000 });
  let left = 64;
  const turn = {
    isOver: () => {
      left -= 1;
      if (left > 0) return false;
      left = 64;
      return true;
    },
  };
  const transport = new SocketTransport({ socket, limits, clock, turn, onClose: () => {} });
  let taken = 0;
  const session = async () => {
    for (;;) {
      await transport.receive();
      taken += 1;
    }
  };
  session().catch(() => {});
  for (let call = 1; call <= 100; call++) {
    socket.peerSends('["push",["pipeline",0,["ping"],[]]]');
    socket.peerSends(`["release",${call},1]`);
  }
  const reactions = () => new Promise((resolve) => setImmediate(resolve));
  await reactions();
  expect([taken, socket.isPaused]).toEqual([64, true]);
  await clock.step();
  await reactions();
  expect([taken, socket.isPaused]).toEqual([128, true]);
  await clock.step();
  await reactions();
  await clock.step();
  await reactions();
  expect([taken, socket.isPaused, socket.closedWith]).toEqual([200, false, undefined]);
});
