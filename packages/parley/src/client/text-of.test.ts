import { expect, it } from 'vitest';
import type { Part } from '../model/part.js';
import { joinParts, textOf } from './text-of.js';

const chunk = (text: string, more: Partial<Part> = {}): Part => ({ text, ...more }) as Part;
const file: Part = { raw: 'aGk=', mediaType: 'image/png' };
const artifact = (...parts: Part[]) => ({ artifactId: 'a1', parts });
const message = (...parts: Part[]) => ({ messageId: 'm1', role: 'ROLE_AGENT' as const, parts });

it('chunks of a streamed artifact are one text', () => {
  expect(textOf(artifact(chunk('Once '), chunk('upon\n'), chunk(''), chunk('a time')))).toBe('Once upon\na time');
});

it('a file between two texts parts them', () => {
  expect(textOf(artifact(chunk('one '), chunk('two'), file, chunk('three')))).toBe('one two\nthree');
});

it('parts of a message stand on lines of their own', () => {
  expect(textOf(message(chunk('Which city?'), chunk('Which day?')))).toBe('Which city?\nWhich day?');
});

it('the text of a task is that of its artifacts, else of its status', () => {
  const status = { state: 'TASK_STATE_COMPLETED' as const, message: message(chunk('done')) };
  const task = { id: 't1', contextId: 'c1', status };
  expect(textOf(task)).toBe('done');
  expect(textOf({ ...task, artifacts: [artifact(chunk('a'), chunk('b')), artifact(file), artifact(chunk('c'))] })).toBe(
    'ab\nc',
  );
  expect(textOf({ ...task, status: { state: 'TASK_STATE_WORKING' } })).toBe('');
});

it('the text of a task whose artifacts have data only is that of its status', () => {
  const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Sold' }] } as const;
  const artifacts = [{ artifactId: 'a', parts: [{ data: { calls: 1 } }] }];
  expect(textOf({ id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED', message }, artifacts })).toBe(
    'Sold',
  );
});

it('parts are joined only where they are of one kind, and the given ones stay as they are', () => {
  const given = [
    chunk('# ', { mediaType: 'text/markdown', metadata: { language: 'en' } }),
    chunk('Title', { mediaType: 'text/markdown' }),
    chunk('plain'),
    file,
    file,
    chunk('a', { filename: 'a.txt' }),
    chunk('b', { filename: 'b.txt' }),
  ];
  const before = structuredClone(given);
  expect(joinParts(given)).toEqual([
    { text: '# Title', mediaType: 'text/markdown', metadata: { language: 'en' } },
    ...given.slice(2),
  ]);
  expect(given).toEqual(before);
});

it('a text of very many chunks is joined in time that grows with its length', () => {
  const parts = Array.from({ length: 200_000 }, () => chunk('word '));
  expect(textOf({ artifactId: 'a1', parts })).toHaveLength(1_000_000);
});
