import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Artifact } from '../model/artifact.js';
import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { TaskEvent } from '../model/stream-response.js';
import type { Task, TaskStatus } from '../model/task.js';
import { LogRecord, type LogRecordExtras } from './log-record.js';
import { TaskBuilder } from './task-builder.js';

type Entry = TaskEvent | readonly [event: TaskEvent, extras: LogRecordExtras];

const ids = { taskId: 't', contextId: 'c' };
const base: Task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } };

function message(messageId: string, role: Message['role'] = 'ROLE_AGENT'): Message {
  return { messageId, role, parts: [{ text: `text of ${messageId}` }] };
}

function status(state: TaskStatus['state'], said?: Message): TaskEvent {
  return { statusUpdate: { ...ids, status: { state, ...(said && { message: said }) } } };
}

function artifact(event: Artifact, append?: boolean): TaskEvent {
  return { artifactUpdate: { ...ids, artifact: event, ...(append !== undefined && { append }) } };
}

function logOf(...entries: readonly Entry[]): LogRecord[] {
  return entries.map((entry, index) => {
    const [event, extras] = isPair(entry) ? entry : [entry, {}];
    return new LogRecord(index + 2, 1, event, extras);
  });
}

function isPair(entry: Entry): entry is Extract<Entry, readonly unknown[]> {
  return Array.isArray(entry);
}

const foldEntries = (...entries: readonly Entry[]) => TaskBuilder.fold(base, logOf(...entries));

describe('artifacts', () => {
  it('are created by their first event and replaced as a whole by the next without append (Spec §4.2.2)', () => {
    const first = { artifactId: 'a', name: 'old', metadata: { k: 1 }, parts: [{ text: '1' }] };
    const second = { artifactId: 'a', parts: [{ text: '2' }] };
    expect(foldEntries(artifact(first)).artifacts).toEqual([first]);
    expect(foldEntries(artifact(first), artifact(second, false)).artifacts).toEqual([second]);
  });

  it('keep their place when replaced, and interleave (Spec §4.2.2)', () => {
    const task = foldEntries(
      artifact({ artifactId: 'a', parts: [{ text: '1' }] }),
      artifact({ artifactId: 'b', parts: [{ text: '2' }] }),
      artifact({ artifactId: 'a', parts: [{ text: '3' }] }),
      artifact({ artifactId: 'b', parts: [{ text: '4' }] }, true),
    );
    expect(task.artifacts).toEqual([
      { artifactId: 'a', parts: [{ text: '3' }] },
      { artifactId: 'b', parts: [{ text: '24' }] },
    ]);
  });

  it('grow by text that continues the text before it, and otherwise by list elements (Spec §4.2.2)', () => {
    const task = foldEntries(
      artifact({ artifactId: 'a', parts: [{ text: 'Hel' }] }),
      artifact({ artifactId: 'a', parts: [{ text: 'lo' }, { data: null }] }, true),
      artifact({ artifactId: 'a', parts: [{ text: 'wor' }] }, true),
      artifact({ artifactId: 'a', parts: [{ text: 'ld' }] }, true),
    );
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'Hello' }, { data: null }, { text: 'world' }]);
  });

  it('keep the parts of one event apart', () => {
    const task = foldEntries(
      artifact({ artifactId: 'a', parts: [{ text: '1' }, { text: '2' }] }),
      artifact({ artifactId: 'a', parts: [{ text: '3' }, { text: '4' }] }, true),
    );
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: '1' }, { text: '23' }, { text: '4' }]);
  });

  it.each([
    ['metadata', { text: 'x', metadata: {} }],
    ['a media type', { text: 'x', mediaType: 'text/markdown' }],
    ['a name', { text: 'x', filename: 'x.txt' }],
  ])('keep a text with %s of its own apart, before and after', (_about, part) => {
    const chunks = [{ text: '1' }, part, { text: '2' }, part];
    const task = foldEntries(...chunks.map((chunk, at) => artifact({ artifactId: 'a', parts: [chunk] }, at > 0)));
    expect(task.artifacts?.[0]?.parts).toEqual(chunks);
  });

  it('keep all parts apart if an extension of the artifact may count them', () => {
    const chunks = [{ text: '1' }, { text: '2' }, { text: '3' }];
    const artifactWith = (part: Part, at: number) =>
      artifact({ artifactId: 'a', parts: [part], ...(at === 0 && { extensions: ['urn:e'] }) }, at > 0);
    expect(foldEntries(...chunks.map(artifactWith)).artifacts?.[0]?.parts).toEqual(chunks);
  });

  it('are created by an append to an unknown id (Spec §4.2.2)', () => {
    const chunk = { artifactId: 'a', parts: [{ text: '1' }] };
    expect(foldEntries(artifact(chunk, true)).artifacts).toEqual([chunk]);
  });

  it('merge metadata of a chunk, and take its name, description and extensions (Spec §4.2.2)', () => {
    const task = foldEntries(
      artifact({ artifactId: 'a', name: 'n1', description: 'd1', metadata: { x: 1, y: 1 }, parts: [{ text: '1' }] }),
      artifact({ artifactId: 'a', name: 'n2', extensions: ['e'], metadata: { y: 2 }, parts: [{ text: '2' }] }, true),
      artifact({ artifactId: 'a', parts: [{ text: '3' }] }, true),
    );
    expect(task.artifacts).toEqual([
      {
        artifactId: 'a',
        name: 'n2',
        description: 'd1',
        extensions: ['e'],
        metadata: { x: 1, y: 2 },
        parts: [{ text: '1' }, { text: '2' }, { text: '3' }],
      },
    ]);
  });
});

describe('history', () => {
  it.each(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const)(
    'takes in the question of %s when the task goes on, before the reply',
    (state) => {
      const asked = foldEntries(status(state, message('q')));
      expect(asked.history).toBeUndefined();
      const task = foldEntries(status(state, message('q')), [
        status('TASK_STATE_WORKING'),
        { history: [message('answer', 'ROLE_USER')] },
      ]);
      expect(task.history?.map(({ messageId }) => messageId)).toEqual(['q', 'answer']);
    },
  );

  it('leaves what an agent says while it works to the log', () => {
    const task = foldEntries(
      status('TASK_STATE_WORKING', message('w1')),
      status('TASK_STATE_WORKING', message('w2')),
      status('TASK_STATE_COMPLETED', message('done')),
    );
    expect(task.history).toBeUndefined();
    expect(task.status.message?.messageId).toBe('done');
  });

  it('has no message twice, by its creator and id', () => {
    const answered: Entry = [status('TASK_STATE_WORKING'), { history: [message('1', 'ROLE_USER')] }];
    const asked = status('TASK_STATE_INPUT_REQUIRED', message('1'));
    const task = foldEntries(asked, answered, asked, answered, asked, status('TASK_STATE_COMPLETED'));
    expect(task.history?.map(({ role }) => role)).toEqual(['ROLE_AGENT', 'ROLE_USER']);
  });

  it('does not repeat a status message that goes on under its own id', () => {
    const task = foldEntries(
      status('TASK_STATE_INPUT_REQUIRED', message('1')),
      status('TASK_STATE_INPUT_REQUIRED', { ...message('1'), parts: [{ text: 'more of it' }] }),
    );
    expect(task.history).toBeUndefined();
  });
});

describe('metadata', () => {
  it('of the record is merged key by key', () => {
    const task = foldEntries(
      [status('TASK_STATE_WORKING'), { metadata: { a: 1, b: { c: 1 } } }],
      [status('TASK_STATE_CANCELED'), { metadata: { b: { d: 2 } } }],
    );
    expect(task.metadata).toEqual({ a: 1, b: { d: 2 } });
  });

  it('of an event belongs to the event', () => {
    const event: TaskEvent = {
      statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING' }, metadata: { a: 1 } },
    };
    expect(foldEntries(event).metadata).toBeUndefined();
  });

  it('may have a member named __proto__', () => {
    const sneaky = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}') as JsonObject;
    const { metadata } = foldEntries(
      [status('TASK_STATE_WORKING'), { metadata: { b: 2 } }],
      [status('TASK_STATE_WORKING'), { metadata: sneaky }],
      [status('TASK_STATE_WORKING'), { metadata: { c: 3 } }],
    );
    expect(JSON.stringify(metadata)).toBe('{"b":2,"__proto__":{"polluted":true},"a":1,"c":3}');
    expect((metadata as { polluted?: boolean }).polluted).toBeUndefined();
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

it('takes a task event as the whole task', () => {
  const whole: Task = {
    ...base,
    status: { state: 'TASK_STATE_WORKING', message: message('w') },
    artifacts: [{ artifactId: 'z', parts: [{ text: 'z' }] }],
    history: [message('h')],
    metadata: { only: true },
  };
  const task = foldEntries(
    [status('TASK_STATE_WORKING', message('x')), { metadata: { a: 1 }, history: [message('y')] }],
    artifact({ artifactId: 'a', parts: [{ text: '1' }] }),
    { task: whole },
  );
  expect(task).toEqual(whole);
});

it('leaves empty lists out', () => {
  expect(new TaskBuilder({ ...base, artifacts: [], history: [] }).view()).toEqual(base);
});

it('shows status and metadata without building the task', () => {
  const builder = new TaskBuilder(base);
  for (const record of logOf([status('TASK_STATE_WORKING', message('w')), { metadata: { a: 1 } }]))
    builder.apply(record);
  expect(builder.head).toEqual({
    status: { state: 'TASK_STATE_WORKING', message: message('w') },
    metadata: { a: 1 },
  });
});

describe('for any log', () => {
  const part = fc.record({ text: fc.string({ maxLength: 3 }), filename: fc.string() }, { requiredKeys: ['text'] });
  const anyMessage = fc
    .tuple(fc.constantFrom('1', '2', '3', '4'), fc.constantFrom('ROLE_USER' as const, 'ROLE_AGENT' as const))
    .map(([id, role]) => message(id, role));
  const anyMetadata = fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.integer()) as fc.Arbitrary<JsonObject>;
  const anyArtifact: fc.Arbitrary<Artifact> = fc.record(
    {
      artifactId: fc.constantFrom('x', 'y', 'z'),
      parts: fc.array(part, { minLength: 1, maxLength: 3 }),
      name: fc.string({ maxLength: 2 }),
      metadata: anyMetadata,
    },
    { requiredKeys: ['artifactId', 'parts'] },
  );
  const anyStatus: fc.Arbitrary<TaskStatus> = fc.record(
    {
      state: fc.constantFrom(
        'TASK_STATE_WORKING' as const,
        'TASK_STATE_INPUT_REQUIRED' as const,
        'TASK_STATE_AUTH_REQUIRED' as const,
      ),
      message: anyMessage,
    },
    { requiredKeys: ['state'] },
  );
  const anyTask: fc.Arbitrary<Task> = fc.record(
    {
      id: fc.constant('t'),
      contextId: fc.constant('c'),
      status: anyStatus,
      artifacts: fc.uniqueArray(anyArtifact, { selector: ({ artifactId }) => artifactId, maxLength: 3 }),
      history: fc.array(anyMessage, { maxLength: 3 }),
      metadata: anyMetadata,
    },
    { requiredKeys: ['id', 'contextId', 'status'] },
  );
  const anyEvent: fc.Arbitrary<TaskEvent> = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(anyArtifact, fc.boolean()).map(([a, append]) => artifact(a, append)) },
    { weight: 3, arbitrary: anyStatus.map((s): TaskEvent => ({ statusUpdate: { ...ids, status: s } })) },
    { weight: 1, arbitrary: anyTask.map((task): TaskEvent => ({ task })) },
  );
  const anyLog = fc
    .array(
      fc.tuple(
        anyEvent,
        fc.record({ history: fc.array(anyMessage, { maxLength: 2 }), metadata: anyMetadata }, { requiredKeys: [] }),
      ),
      { maxLength: 20 },
    )
    .map((entries) => logOf(...entries));

  it('the fold does not depend on where it is interrupted by a view (Spec §3.1.3)', () => {
    fc.assert(
      fc.property(anyTask, anyLog, fc.func(fc.boolean()), (start, log, interrupt) => {
        const whole = TaskBuilder.fold(start, log);
        let builder = new TaskBuilder(start);
        for (const record of log) {
          builder.apply(record);
          if (interrupt(record.seq)) builder = new TaskBuilder(builder.view());
        }
        expect(builder.view()).toEqual(whole);
        expect(builder.head).toEqual({ status: whole.status, metadata: whole.metadata });
      }),
    );
  });

  it('neither its input nor an earlier view is ever changed', () => {
    fc.assert(
      fc.property(anyTask, anyLog, (start, log) => {
        const before = JSON.stringify([start, log.map(({ event, history, metadata }) => [event, history, metadata])]);
        const builder = new TaskBuilder(start);
        const views = [{ task: builder.view(), text: JSON.stringify(builder.view()) }];
        for (const record of log) {
          builder.apply(record);
          views.push({ task: builder.view(), text: JSON.stringify(builder.view()) });
        }
        for (const { task, text } of views) expect(JSON.stringify(task)).toBe(text);
        expect(JSON.stringify([start, log.map(({ event, history, metadata }) => [event, history, metadata])])).toBe(
          before,
        );
      }),
    );
  });

  it('a log read back from its text folds to the same', () => {
    fc.assert(
      fc.property(anyTask, anyLog, (start, log) => {
        const copies = log.map(
          ({ seq, turn, text, history, metadata }) =>
            new LogRecord(seq, turn, text, { ...(history && { history }), ...(metadata && { metadata }) }),
        );
        expect(TaskBuilder.fold(start, copies)).toEqual(TaskBuilder.fold(start, log));
      }),
    );
  });
});

it('a log is replayed onto its snapshot, and without one from its first task', () => {
  const log = logOf(status('TASK_STATE_WORKING'), artifact({ artifactId: 'a', parts: [{ text: '1' }] }));
  const folded = TaskBuilder.fold(base, log);
  expect(TaskBuilder.replay('t', base, log)).toEqual(folded);
  expect(TaskBuilder.replay('t', undefined, [new LogRecord(1, 1, { task: base }), ...log])).toEqual(folded);
  expect(() => TaskBuilder.replay('t', undefined, log)).toThrow('The log of task t has no beginning');
});

it('hands out the same parts until the artifact grows again', () => {
  const builder = new TaskBuilder(base);
  const chunks = Array.from({ length: 1_000 }, (_, at) => ({ data: at }));
  for (const record of logOf(...chunks.map((chunk, at) => artifact({ artifactId: 'a', parts: [chunk] }, at > 0)))) {
    builder.apply(record);
  }
  const [first] = builder.view().artifacts ?? [];
  expect(first?.parts).toEqual(chunks);
  for (const record of logOf(status('TASK_STATE_WORKING'))) builder.apply(record);
  expect(builder.view().artifacts?.[0]?.parts).toBe(first?.parts);
  for (const record of logOf(artifact({ artifactId: 'a', parts: [{ text: 'more' }] }, true))) builder.apply(record);
  expect(builder.view().artifacts?.[0]?.parts).toHaveLength(1_001);
  expect(first?.parts).toHaveLength(1_000);
});
