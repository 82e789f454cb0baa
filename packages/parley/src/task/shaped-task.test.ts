import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Task } from '../model/task.js';
import { ShapedTask, type TaskMembers } from './shaped-task.js';

const text = fc.string({ unit: 'grapheme' });
const message = fc.record({
  messageId: text,
  role: fc.constant('ROLE_USER' as const),
  parts: fc.constant([{ text: 'x' }]),
});
const artifact = fc.record({ artifactId: text, parts: fc.array(fc.record({ text })) });
/** Parsed from JSON, which has no -0. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as never);
const members: fc.Arbitrary<TaskMembers> = fc.record(
  {
    id: text,
    contextId: fc.option(text, { nil: undefined }),
    status: fc.record({ state: fc.constant('TASK_STATE_WORKING' as const) }),
    artifacts: fc.option(fc.array(artifact), { nil: undefined }),
    history: fc.option(fc.array(message), { nil: undefined }),
    metadata: fc.option(fc.dictionary(text, json), { nil: undefined }),
  },
  { noNullPrototype: true },
);

describe('a task put together', () => {
  it('has the members that are there, and says the same as JSON however that is made', () => {
    fc.assert(
      fc.property(members, (given) => {
        const task = new ShapedTask(given);
        const plain = JSON.parse(JSON.stringify({ ...given, ...dropEmpty(given) })) as Task;
        expect({ ...task }).toEqual(plain);
        expect(JSON.parse(ShapedTask.textOf(task))).toEqual(plain);
        expect(ShapedTask.textOf(task)).toBe(JSON.stringify(task));
        expect(ShapedTask.textOf(plain)).toBe(JSON.stringify(plain));
        expect(ShapedTask.textsOf(plain)).toEqual(ShapedTask.textsOf(task));
      }),
    );
  });

  it('parses its members at their first read, and has them all the same', () => {
    fc.assert(
      fc.property(members, (given) => {
        const task = new ShapedTask(given);
        const texts = { id: task.id, contextId: task.contextId, ...ShapedTask.textsOf(task) };
        const unread = () => ShapedTask.unread(texts);
        expect(Object.keys(unread())).toEqual(Object.keys(task));
        expect({ ...unread() }).toEqual({ ...ShapedTask.parse(texts) });
        expect(JSON.stringify(unread())).toBe(JSON.stringify(task));
        expect(structuredClone(unread())).toEqual(structuredClone(ShapedTask.parse(texts)));
        const read = unread();
        expect(read.status).toBe(read.status);
        expect(ShapedTask.textOf(read)).toBe(ShapedTask.textOf(task));
      }),
    );
    const broken = { id: 't', contextId: undefined, artifacts: undefined, history: undefined, metadata: undefined };
    expect(ShapedTask.unread({ ...broken, status: '{' }).id).toBe('t');
  });

  it('takes the word of the texts it is given', () => {
    const known = {
      status: '{"state":"TASK_STATE_WORKING"}',
      artifacts: undefined,
      history: '[]',
      metadata: '{"a":1}',
    };
    const status = { state: 'TASK_STATE_WORKING' as const };
    const task = new ShapedTask({ id: 't', contextId: undefined, status, metadata: { a: 1 } }, known);
    expect(ShapedTask.textsOf(task)).toBe(known);
    expect(ShapedTask.textOf(task)).toBe(
      '{"id":"t","status":{"state":"TASK_STATE_WORKING"},"history":[],"metadata":{"a":1}}',
    );
  });
});

function dropEmpty({ artifacts, history }: TaskMembers): Partial<TaskMembers> {
  return {
    ...(artifacts?.length === 0 && { artifacts: undefined }),
    ...(history?.length === 0 && { history: undefined }),
  } as Partial<TaskMembers>;
}
