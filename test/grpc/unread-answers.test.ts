import { constants } from 'node:http2';
import { expect, it } from 'vitest';
import { GrpcTester, message, serve } from './grpc-world.js';
import { answerOf, endOf, frame, rawCall, rawSession, sendMessageBytes } from './raw-http2.js';

const ANSWER_BYTES = 1_000_000;

/** An agent with long answers. */
const agent = {
  replies: 'either' as const,
  execute: async (_context: unknown, events: { message(text: string): Promise<unknown> }) =>
    void (await events.message('x'.repeat(ANSWER_BYTES))),
};

/** Calls on one connection whose answers the client does not read. */
function unread(port: number, calls: number) {
  const session = rawSession(port);
  const end = endOf(session);
  const streams = Array.from({ length: calls }, () => rawCall(session, [frame(sendMessageBytes('hi'))]).pause());
  return { session, end, streams };
}

it('the connection with the most unread answers ends at the bound of all, and the others go on', async () => {
  const { port, address } = await serve({ agent } as object, { waitingBytes: 5_500_000 });
  const modest = unread(port, 1);
  const [answer = Promise.reject(new Error('no call'))] = modest.streams.map(answerOf);
  for (const stream of modest.streams) stream.pause();
  const greedy = unread(port, 20);
  expect(await greedy.end).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect(modest.session.destroyed).toBe(false);
  for (const stream of modest.streams) stream.resume();
  expect(await answer).toMatchObject({ status: 0, reset: constants.NGHTTP2_NO_ERROR });
  expect((await answer).bytes).toBeGreaterThan(ANSWER_BYTES);
  await new GrpcTester(address).call('SendMessage', { message: message('still there') });
});

it('the connections of one address end until the rest is below the bound, and its bytes are free again', async () => {
  const { port } = await serve({ agent } as object, { waitingBytes: 3_500_000 });
  for (let round = 0; round < 3; round++) {
    const connections = Array.from({ length: 5 }, () => unread(port, 1));
    const ends = connections.map(({ end }) => end.then(() => 'ended'));
    expect(await Promise.race(ends)).toBe('ended');
    // At most three answers have room.
    await expect.poll(() => connections.filter(({ session }) => !session.destroyed).length).toBeLessThanOrEqual(3);
    for (const { session } of connections) session.destroy();
  }
});

it('clients that read may get far more than the bound', async () => {
  const { port } = await serve({ agent } as object, { waitingBytes: 3_000_000 });
  const session = rawSession(port);
  for (let round = 0; round < 20; round++) {
    const answer = await answerOf(rawCall(session, [frame(sendMessageBytes('hi'))]));
    expect(answer).toMatchObject({ status: 0 });
    expect(answer.bytes).toBeGreaterThan(ANSWER_BYTES);
  }
});
