import { expect, it, vi } from 'vitest';
import type { Scope } from '../../store/task-key.js';
import { TaskFeeds } from './task-feeds.js';

const scope = (owner: string): Scope => ({ agent: 'a', tenant: '', owner });

function listener(owner: string, started = true) {
  const key = { scope: scope(owner), id: 't' };
  return { key, started, offer: vi.fn(), look: vi.fn(), shutDown: vi.fn(), overdue: vi.fn() };
}

it('tells of a task only its own listeners, although another scope has a task with the same id', () => {
  const feeds = new TaskFeeds();
  const [ada, bob] = [feeds.attach(listener('ada')), feeds.attach(listener('bob'))];
  feeds.publish(ada.key, [], undefined);
  feeds.overdue(ada.key);
  expect([ada.offer, bob.offer].map((called) => called.mock.calls.length)).toEqual([1, 0]);
  expect([ada.overdue, bob.overdue].map((called) => called.mock.calls.length)).toEqual([1, 0]);
  expect(feeds.started(ada.key)).toEqual([ada]);
  expect(feeds.started()).toEqual([ada, bob]);
});

it('does not ask for a listener without a start', () => {
  const feeds = new TaskFeeds();
  const early = feeds.attach(listener('ada', false));
  expect([feeds.started(early.key), feeds.started()]).toEqual([[], []]);
});
