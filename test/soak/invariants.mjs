// Invariants of every task in a storage that is no longer in use.
import assert from 'node:assert/strict';
import { isTerminal } from 'parley-a2a';
import { TaskBuilder } from 'parley-a2a/storage';

/** Checks every task of an agent; resolves to how many there were, and how many still had their whole log. */
export async function checkTasks(storage, agent) {
  const scope = { agent, tenant: '', owner: null };
  const found = { tasks: 0, whole: 0, cut: 0, broken: [] };
  for (let cursor; ; ) {
    const query = { scope, orderBy: 'created', limit: 100, artifacts: true, history: true };
    const { tasks } = await storage.tasks({ ...query, ...(cursor && { cursor }) });
    for (const stored of tasks) {
      found.tasks += 1;
      try {
        const whole = await checkTask(storage, stored);
        if (whole) found.whole += 1;
        else found.cut += 1;
      } catch (error) {
        found.broken.push(`${stored.task.id}: ${error.message}`);
      }
    }
    const last = tasks.at(-1);
    if (last === undefined) return found;
    cursor = { time: last.createdAt, id: last.task.id };
  }
}

async function checkTask(storage, { scope, task, seq, running }) {
  assert(isTerminal(task.status.state), `it is left in ${task.status.state}`);
  assert(!running, 'a turn still holds it');
  const key = { scope, id: task.id };
  const records = [];
  let floor = 1;
  for (let after = 0; ; ) {
    const page = await storage.records(key, after, 1_048_576);
    ({ floor } = page);
    assert.equal(page.last, seq, 'the log ends where the task does');
    records.push(...page.records);
    after = page.records.at(-1)?.seq ?? seq;
    if (after >= seq) break;
  }
  assert.deepEqual(
    records.map((record) => record.seq),
    Array.from({ length: seq - floor + 1 }, (_, index) => floor + index),
    'its numbers have no gap',
  );
  const ends = records.filter(({ event }) => isTerminal(stateOf(event)));
  assert(
    ends.length === 0 ? records.length === 0 : ends.length === 1 && ends[0] === records.at(-1),
    'it ends once, last',
  );
  const times = records.flatMap(({ event }) => (event.task ?? event.statusUpdate)?.status.timestamp ?? []);
  assert.deepEqual(times, times.toSorted(), 'its times never go back');
  if (floor > 1) return false;
  const [{ event }] = records;
  assert.equal(event.task?.status.state, 'TASK_STATE_SUBMITTED', 'it begins in SUBMITTED');
  const builder = new TaskBuilder(event.task);
  for (const record of records.slice(1)) builder.apply(record);
  assert.deepEqual(plain(task), plain(builder.view()), 'the task is the fold of its log');
  return true;
}

function stateOf(event) {
  return (event.task ?? event.statusUpdate)?.status.state ?? 'TASK_STATE_UNSPECIFIED';
}

function plain(value) {
  return JSON.parse(JSON.stringify(value));
}
