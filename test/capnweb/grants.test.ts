import { once } from 'node:events';
import type { Authenticator } from 'parley-a2a/auth';
import { describe, expect, it } from 'vitest';
import {
  itemsOf,
  message,
  type RemoteAgent,
  type RemoteEntrance,
  type RemoteFeed,
  type RemoteTask,
  refusal,
  servedAgent,
  waitForClose,
} from './session-world.js';
import { bearer, tokens } from './tokens.js';

/** Works until it is aborted. */
const working = {
  execute: async (
    { signal }: { readonly signal: AbortSignal },
    events: { working(text: string): Promise<unknown> },
  ) => {
    await events.working('begun');
    await once(signal, 'abort');
  },
};

/** A task that works. */
async function beginTask(agent: RemoteAgent): Promise<string> {
  const configuration = { returnImmediately: true };
  const { task } = await agent.sendMessage({ message: message('hi'), configuration });
  return task.id;
}

/** Disposes an object, and resolves when the server has seen it. */
async function dispose(entrance: RemoteEntrance, one: Disposable): Promise<void> {
  one[Symbol.dispose]();
  await entrance.ping();
}

/** Expects that a session is still open. */
async function expectOpen(entrance: RemoteEntrance): Promise<void> {
  expect(await entrance.ping()).toBe('pong');
  expect(await entrance.authenticate(bearer('bob')).listTasks({})).toMatchObject({ tasks: [] });
}

type Events = Pick<RemoteFeed, 'events'>;

async function subscribeTo(task: RemoteTask): Promise<Events> {
  const feed = await task.subscribe();
  task[Symbol.dispose]();
  return feed;
}

async function viewOf(task: RemoteTask): Promise<RemoteTask> {
  const view = await task.view();
  task[Symbol.dispose]();
  return view;
}

/** The events of `watch` as those of a feed. */
async function watchTask(task: RemoteTask): Promise<Events> {
  const { readable, writable } = new TransformStream();
  const writer = writable.getWriter();
  await task.watch((items) => {
    for (const item of items) void writer.write(item);
  });
  task[Symbol.dispose]();
  return { events: readable };
}

const OPENERS: readonly (readonly [string, (ada: RemoteAgent, id: string) => PromiseLike<Events>])[] = [
  ['sendStreamingMessage', (ada) => ada.sendStreamingMessage({ message: message('hi') })],
  ['subscribeToTask', (ada, id) => ada.subscribeToTask({ id })],
  ['task.subscribe', async (ada, id) => subscribeTo(await ada.task(id))],
  ['the view of a task', async (ada, id) => subscribeTo(await viewOf(await ada.task(id)))],
  ['task.watch', async (ada, id) => watchTask(await ada.task(id))],
];

type Opener = (typeof OPENERS)[number][1];

/** Opens a feed of Ada, and disposes all her other objects. Resolves to the close of the connection. */
async function feedAlone(open: Awaited<ReturnType<typeof servedAgent>>['open'], opens: Opener) {
  const { entrance, socket } = open();
  const closed = waitForClose(socket);
  const ada = await entrance.authenticate(bearer('ada'));
  const reader = (await opens(ada, await beginTask(ada))).events.getReader();
  await reader.read();
  await dispose(entrance, ada);
  return { closed };
}

describe('the end of a credential', () => {
  it.each(OPENERS)('ends a feed of %s when the client holds no other object of it', async (_, opens) => {
    const { authenticator, revoke } = tokens();
    const { open } = await servedAgent({ authenticator, agent: working });
    const { closed } = await feedAlone(open, opens);
    revoke('ada');
    expect((await closed).code).toBe(4401);
  });

  it('ends such feeds of all kinds also if it expires', async () => {
    const { authenticator } = tokens(1_500);
    const { open } = await servedAgent({ authenticator, agent: working });
    const feeds = await Promise.all(OPENERS.map(([, opens]) => feedAlone(open, opens)));
    const codes = await Promise.all(feeds.map(async ({ closed }) => (await closed).code));
    expect(codes).toEqual(OPENERS.map(() => 4401));
  });

  it('ends a waiting call too when the client holds no object of it, and is forgotten with the last one', async () => {
    const { authenticator, revoke } = tokens();
    const held = Promise.withResolvers<string>();
    const { open } = await servedAgent({ authenticator, agent: () => held.promise });
    const { entrance, socket } = open();
    const closed = waitForClose(socket);
    const ada = await entrance.authenticate(bearer('ada'));
    const sent = refusal(ada.sendMessage({ message: message('hi') }));
    ada[Symbol.dispose]();
    const eve = await entrance.authenticate(bearer('eve'));
    await eve.listTasks({});
    await dispose(entrance, eve);
    // This grant has no objects left, so its end has no effect.
    revoke('eve');
    expect(await entrance.ping()).toBe('pong');
    revoke('ada');
    expect(await sent).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect((await closed).code).toBe(4401);
    held.resolve('late');
  });

  it('reaches a task that was opened while the client disposed the agent', async () => {
    const { authenticator, revoke, keepBack } = tokens();
    const { open } = await servedAgent({ authenticator, agent: working });
    const { entrance, socket } = open();
    const closed = waitForClose(socket);
    const ada = await entrance.authenticate(bearer('ada'));
    const id = await beginTask(ada);
    const { asked, answer } = keepBack();
    const opened = ada.task(id);
    // Without it the client never asks for the result.
    const task = opened.then((one) => one);
    await asked;
    await dispose(entrance, ada);
    answer();
    expect(await (await task).get()).toMatchObject({ id });
    revoke('ada');
    expect((await closed).code).toBe(4401);
  });

  it('means nothing after the last feed', async () => {
    const { authenticator, revoke } = tokens();
    const { open } = await servedAgent({ authenticator, agent: working });
    const { entrance } = open();
    const ada = await entrance.authenticate(bearer('ada'));
    const feed = await ada.subscribeToTask({ id: await beginTask(ada) });
    await dispose(entrance, ada);
    await feed.subscription.close();
    revoke('ada');
    await expectOpen(entrance);
  });

  it('means nothing after a renewal whose agent the client has disposed', async () => {
    const { authenticator, revoke, keepBack } = tokens();
    const { open } = await servedAgent({ authenticator });
    const { entrance } = open();
    const ada = await entrance.authenticate(bearer('ada.1'));
    const { asked, answer } = keepBack();
    const renewed = ada.renew(bearer('ada.2').credential).then((end) => end);
    await asked;
    await dispose(entrance, ada);
    answer();
    expect(await renewed).toEqual({});
    revoke('ada.2');
    await expectOpen(entrance);
  });

  it.each<[string, (ada: RemoteAgent, id: string) => PromiseLike<unknown>]>([
    ['feed', (ada, id) => ada.subscribeToTask({ id }).then(itemsOf)],
    ['call', (ada) => ada.sendMessage({ message: message('hi') })],
  ])('ends a %s that begins at the same time', async (_, begins) => {
    const { authenticator, revoke, keepBack } = tokens();
    let isLate = false;
    /** Its late answers do not tell that the token ends. */
    const late: Authenticator = {
      ...authenticator,
      authenticate: async (credentials) => {
        const { revoked, ...found } = { revoked: undefined, ...(await authenticator.authenticate(credentials)) };
        return revoked === undefined || isLate ? found : { ...found, revoked };
      },
    };
    const { open } = await servedAgent({ authenticator: late, agent: working });
    const { entrance } = open();
    const ada = await entrance.authenticate(bearer('ada'));
    const id = await beginTask(ada);
    // The connection continues with another user.
    const eve = await entrance.authenticate(bearer('eve'));
    isLate = true;
    const { asked, answer } = keepBack();
    const refused = refusal(begins(ada, id));
    await asked;
    revoke('ada');
    answer();
    expect(await refused).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(await eve.listTasks({})).toMatchObject({ tasks: [] });
  });

  it('ends a feed from before the renewal of a credential without an end', async () => {
    const { authenticator, revoke } = tokens();
    const { open } = await servedAgent({ authenticator, agent: working });
    const { entrance } = open();
    const ada = await entrance.authenticate(bearer('ada.endless'));
    const id = await beginTask(ada);
    const eve = await entrance.authenticate(bearer('eve'));
    const feed = refusal(itemsOf(await ada.subscribeToTask({ id })));
    const sent = refusal(ada.sendMessage({ message: message('hi') }));
    await ada.renew(bearer('ada.2').credential);
    revoke('ada.2');
    expect(await feed).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(await sent).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(await eve.listTasks({})).toMatchObject({ tasks: [] });
  });
});
