import { expect, it } from 'vitest';
import { call, engine, ids, message, Seen } from '../../test/engine.js';
import type { EventQueue, RawEvent } from './event-queue.js';
import type { RequestContext } from './request-context.js';

type Publish = (events: EventQueue, context: RequestContext) => unknown;

const metadata = () => ({ k: 'before', deep: { list: ['before', { k: 'before' }] } });
const part = () => ({ data: { k: 'before', list: [{ k: 'before' }] }, metadata: metadata() });
const text = () => ({ text: 'before', metadata: metadata() });
const about = () => ({ artifactId: 'a', name: 'before', extensions: ['before'], metadata: metadata() });
const newMessage = () => ({
  messageId: 'before',
  parts: [part(), text()],
  metadata: metadata(),
  extensions: ['before'],
});
const raw = (event: object) => event as RawEvent;

/** Every way in which an agent can publish an object. `publish` gets the object that `given` returned. */
const places: Record<string, { given: () => unknown; publish: (given: never) => Publish }> = {
  'a part': { given: part, publish: (given) => (events) => events.artifact(given) },
  'a list of parts': { given: () => [part(), text()], publish: (given) => (events) => events.artifact(given) },
  'parts that are appended': { given: () => [part()], publish: (given) => (events) => events.append('a', given) },
  'what describes a text': { given: about, publish: (given) => (events) => events.artifact('before', given) },
  'what describes a text that is appended': {
    given: () => ({ metadata: metadata(), extensions: ['before'] }),
    publish: (given) => (events) => events.append('a', 'before', given),
  },
  'the metadata of a status': {
    given: () => ({ metadata: metadata() }),
    publish: (given) => (events) => events.working('before', given),
  },
  'the metadata of a status without text': {
    given: () => ({ metadata: metadata() }),
    publish: (given) => (events) => events.working(undefined, given),
  },
  'the parts of a status': { given: () => [part(), text()], publish: (given) => (events) => events.working(given) },
  'the message of a status': { given: newMessage, publish: (given) => (events) => events.working(given) },
  'the message of the last status': { given: newMessage, publish: (given) => (events) => events.complete(given) },
  'a question': { given: newMessage, publish: (given) => (events) => events.inputRequired(given) },
  'a direct message': { given: newMessage, publish: (given) => (events) => events.message(given) },
  'a raw status': {
    given: () => ({
      statusUpdate: {
        status: { state: 'TASK_STATE_WORKING', message: { ...newMessage(), role: 'ROLE_AGENT' } },
        metadata: metadata(),
      },
    }),
    publish: (given) => (events) => events.publish(raw(given)),
  },
  'a raw artifact': {
    given: () => ({ artifactUpdate: { artifact: { ...about(), parts: [part()] }, metadata: metadata() } }),
    publish: (given) => (events) => events.publish(raw(given)),
  },
  'a raw message': {
    given: () => ({ message: newMessage() }),
    publish: (given) => (events) => events.publish(raw(given)),
  },
  'a raw task': {
    given: () => ({
      task: {
        status: { state: 'TASK_STATE_WORKING' },
        artifacts: [{ ...about(), parts: [part()] }],
        history: [],
        metadata: metadata(),
      },
    }),
    publish: (given) => (events) => events.publish(raw(given)),
  },
};

/** Changes everything that can be reached from an object. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    if (typeof members[name] === 'object') spoil(members[name]);
    else members[name] = 'after';
  }
  if (Array.isArray(value)) value.push('after');
  else members.after = 'after';
}

async function play(publish: Publish, then: () => void, replies: 'task' | 'either') {
  const { handler, clock, storage } = engine({
    replies,
    async execute(context, events) {
      publish(events, context);
      then();
      await events.complete().catch(() => {});
    },
  });
  const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
  await clock.settle();
  const [id] = await ids(handler);
  const { records } = await storage.records(
    { scope: { agent: 'test', tenant: '', owner: null }, id: id ?? '' },
    0,
    1e9,
  );
  return {
    shown: seen.items.map(({ event }) => structuredClone(event)),
    log: records.map(({ text }) => text),
    task: id === undefined ? undefined : await handler.getTask({ id }, call()),
  };
}

it.each(
  Object.entries(places).flatMap(([name, place]) =>
    (['task', 'either'] as const).map((replies) => [name, replies, place] as const),
  ),
)('log, stream and task keep %s as it was published (replies: %s)', async (_name, replies, { given, publish }) => {
  const untouched = await play(publish(given() as never), () => {}, replies);
  const object = given();
  const changed = await play(publish(object as never), () => spoil(object), replies);
  expect(JSON.stringify(object)).toContain('after');
  expect(JSON.stringify(untouched)).toContain('before');
  expect(changed).toEqual(untouched);
});

it('a checkpoint is kept as it was saved', async () => {
  const checkpoint = metadata();
  const { handler, clock, storage } = engine({
    resumable: true,
    async execute(context) {
      const saving = context.saveCheckpoint(checkpoint);
      spoil(checkpoint);
      await saving;
      spoil(checkpoint);
      await new Promise(() => {});
    },
  });
  void handler.sendMessage({ message: message() }, call()).catch(() => {});
  await clock.settle();
  await handler.close();
  const { claims } = await storage.claim({ node: 'next', leaseMs: 1, agents: ['test'], limit: 1 });
  const [claim] = claims;
  expect(claim?.checkpoint).toEqual(metadata());
});
