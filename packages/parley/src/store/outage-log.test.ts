import { expect, it } from 'vitest';
import { CapturingLogger } from '../../test/engine.js';
import { ManualClock } from '../../test/manual-clock.js';
import { OutageLog } from './outage-log.js';

it('tells once when writes begin to fail and once when they have worked again for a while', async () => {
  const logger = new CapturingLogger();
  const clock = new ManualClock();
  const spell = new OutageLog({ subject: '/data/tasks.db', logger, clock });
  const loggedLines = () => logger.lines.map(({ level, message }) => `${level}: ${message}`);
  spell.working();
  await clock.advance(5_000);
  expect(loggedLines()).toEqual([]);
  for (let call = 0; call < 3; call += 1) spell.failing('the disk is full');
  // Small writes may succeed between failing large ones: the outage goes on.
  for (let call = 0; call < 3; call += 1) {
    spell.working();
    await clock.advance(900);
    spell.failing('the disk is full');
  }
  const began =
    'error: the storage cannot write: new messages are refused, running turns wait until it can; the disk is full';
  expect(loggedLines()).toEqual([began]);
  spell.working();
  await clock.advance(1_000);
  expect(loggedLines()).toEqual([began, 'warn: the storage can write again']);
  expect(logger.lines[1]?.fields).toEqual({ subject: '/data/tasks.db', afterMs: 3_700 });
  spell.failing('the disk is full');
  expect(loggedLines()).toHaveLength(3);
  spell.working();
  spell.close();
  await clock.advance(5_000);
  expect(loggedLines()).toHaveLength(3);
});
