import { MemoryStorage, systemClock } from 'parley-a2a/server';
import { describe, expect, it } from 'vitest';
import { HELLO, itemsOf, message, refusal, servedAgent } from './session-world.js';

describe('an agent over a session', () => {
  it('answers what an anonymous peer may ask', async () => {
    const { open, url } = await servedAgent();
    const { entrance } = open();
    expect(await entrance.ping()).toBe('pong');
    const card = await entrance.getAgentCard();
    expect(card.supportedInterfaces).toContainEqual({
      url: `${url}/a2a/capnweb`,
      protocolBinding: 'https://parley-a2a.dev/bindings/capnweb/v1',
      protocolVersion: '1.0',
    });
  });

  it('sends a message, and reads the task in the same chain', async () => {
    const { agent } = await servedAgent();
    const ada = agent();
    const sent = ada.sendMessage({ message: message('hi') });
    const read = ada.getTask({ id: sent.task.id });
    expect(await read).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'Echo: hi' }] }],
    });
    expect(await ada.listTasks({})).toMatchObject({ tasks: [{ id: (await sent).task.id }], totalSize: 1 });
  });

  it('streams the events of a task, numbered without gaps', async () => {
    const { agent } = await servedAgent();
    const items = await itemsOf(await agent().sendStreamingMessage({ message: message('hi') }));
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, at) => at + 1));
    expect(items[0]).toMatchObject({ event: { task: { status: { state: 'TASK_STATE_SUBMITTED' } } } });
    expect(items.at(-1)).toMatchObject({ event: { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } } });
  });

  it('gives the object of a task', async () => {
    const { agent } = await servedAgent();
    const ada = agent();
    const { task } = await ada.sendMessage({ message: message('hi') });
    const held = ada.task(task.id);
    expect(await held.get()).toMatchObject({ id: task.id });
    expect((await held.get({ historyLength: 0 })).history).toBeUndefined();
    expect(await refusal(held.cancel())).toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
    const view = held.view();
    expect(await view.get()).toMatchObject({ id: task.id });
    expect(await refusal(view.cancel())).toMatchObject({ reason: 'METHOD_NOT_FOUND' });
    expect(await itemsOf(await held.subscribe({ after: 1 }))).toHaveLength(3);
    expect(await itemsOf(await held.subscribe({ after: 4 }))).toEqual([]);
    expect(await refusal(held.subscribe())).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    expect(await refusal(ada.task('none'))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('says that a task replaces the events that are no longer kept, also in place of a single one', async () => {
    const storage = new MemoryStorage({ clock: systemClock, eventLogBytes: 1 });
    const { agent } = await servedAgent({ storage });
    const ada = agent();
    const { task } = await ada.sendMessage({ message: message('hi') });
    const held = ada.task(task.id);
    const all = { seq: 4, event: { task: { status: { state: 'TASK_STATE_COMPLETED' } } }, reset: true };
    for (const after of [1, 2, 3]) expect(await itemsOf(await held.subscribe({ after }))).toMatchObject([all]);
    expect(await itemsOf(await held.subscribe({ after: 4 }))).toEqual([]);
  });

  it('calls a function with the events', async () => {
    const { agent } = await servedAgent({
      agent: { execute: async (_context, events) => void (await events.inputRequired('and?')) },
    });
    const ada = agent();
    const { task } = await ada.sendMessage({ message: message('hi') });
    const seen: { seq: number }[] = [];
    const watch = ada.task(task.id).watch((items) => void seen.push(...items), { after: 0 });
    await watch;
    await expect.poll(() => seen.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    watch[Symbol.dispose]();
  });

  it('refuses another version, and a version that is missing', async () => {
    const { open } = await servedAgent();
    const { entrance } = open();
    for (const parameters of [{}, { 'a2a-version': '0.3' }, { 'A2A-VERSION': '2.0' }]) {
      expect(await refusal(entrance.authenticate({ parameters }))).toMatchObject({
        reason: 'VERSION_NOT_SUPPORTED',
        domain: 'a2a-protocol.org',
        details: [{ metadata: { supportedVersions: '1.0' } }],
      });
    }
    expect(await entrance.authenticate(HELLO).ping()).toBe('pong');
  });
});
