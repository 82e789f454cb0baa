import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer, GRPC_AGENTS } from './example-server.js';
import { JavaScriptPeer } from './javascript-peer.js';
import { MODES, play } from './play.js';
import { SCENARIOS } from './scenarios.js';

const PLAYS = SCENARIOS.flatMap((scenario) =>
  [...scenario.agents, ...(scenario.agents.includes('/spec') && scenario.once !== true ? ['/spec03'] : [])].flatMap(
    (agent) =>
      MODES.filter((mode) => scenario.turns[0]?.stream !== undefined || mode === 'blocking')
        .filter((mode) => scenario.once !== true || (mode === 'stream' && process.env.TEST_LONG !== undefined))
        .map((mode) => ({ title: `${agent} ${scenario.name}, ${mode}`, agent, scenario, mode })),
  ),
);

const message = (text: string, more: object = {}) => ({ message: { parts: [{ text }], ...more } });

describe('official JavaScript client over gRPC', () => {
  const outcomes = new Map<string, Promise<unknown>>();
  let server: ExampleServer;
  let spec: JavaScriptPeer;
  const connectTo = (agent: string) => JavaScriptPeer.connect(`${server.url}${agent}`, 'GRPC', fetch);

  beforeAll(async () => {
    server = await ExampleServer.start({ program: GRPC_AGENTS });
    spec = await connectTo('/spec');
    for (const { title, agent, scenario, mode } of PLAYS) {
      const outcome = connectTo(agent).then((peer) => play(peer, scenario, mode));
      outcomes.set(
        title,
        outcome.catch((error: unknown) => error),
      );
    }
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it.each(PLAYS)('plays $title', { timeout: 60_000 }, async ({ title }) => {
    const error = await outcomes.get(title);
    if (error !== undefined) throw error;
  });

  it('gets the errors of the protocol by name (Spec §10.6)', async () => {
    const refusals = async (call: Promise<unknown>) => {
      const error = await call.then(
        () => undefined,
        (refused: Error) => refused,
      );
      return error?.constructor.name;
    };
    const { task } = await spec.send(message('task-lifecycle'));
    const unknown = randomUUID();
    expect(
      await Promise.all([
        refusals(spec.task(unknown)),
        refusals(spec.cancel(unknown)),
        refusals(spec.cancel(String(task?.id))),
        refusals(spec.send(message('again', { taskId: String(task?.id) }))),
        refusals(spec.send({ message: { parts: [] } })),
      ]),
    ).toEqual([
      'GrpcTaskNotFoundError',
      'GrpcTaskNotFoundError',
      'GrpcTaskNotCancelableError',
      'GrpcUnsupportedOperationError',
      'GrpcRequestMalformedError',
    ]);
  });

  it('cancels a task, and lists tasks page by page', async () => {
    const contextId = randomUUID();
    const more = { contextId };
    const { task } = await spec.send({
      ...message('task-cancel', more),
      configuration: { returnImmediately: true },
    });
    const canceled = await spec.cancel(String(task?.id), { reason: 'enough' });
    expect(canceled).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' }, metadata: { reason: 'enough' } });
    const last = await spec.send(message('task-failure', more));
    const page = await spec.list({ contextId, pageSize: 1 });
    expect(page).toMatchObject({ totalSize: 2, tasks: [{ id: last.task?.id }] });
    const next = await spec.list({ contextId, pageSize: 1, pageToken: page.nextPageToken });
    expect(next).toMatchObject({ nextPageToken: '', tasks: [{ id: task?.id }] });
  });
});
