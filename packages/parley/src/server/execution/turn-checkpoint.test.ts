import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../model/json.js';
import type { HeldTurn } from '../../store/held-turn.js';
import { agentCheckpoint, TurnCheckpoint } from './turn-checkpoint.js';

const turn = { held: {} as HeldTurn, flush: async () => {} };

/** A checkpoint whose writes each take one tick. */
function checkpointOf(stored?: JsonValue, isHeld = true) {
  const written: JsonValue[] = [];
  const checkpoint = new TurnCheckpoint(turn, stored, async (_, next) => {
    await Promise.resolve();
    written.push(next);
    return isHeld;
  });
  return { checkpoint, written };
}

describe('the checkpoint of a turn', () => {
  it('is the value of the agent alone, if no service keeps one', async () => {
    const { checkpoint, written } = checkpointOf();
    await checkpoint.save(3);
    expect(written).toEqual([3]);
  });

  it('has values of turn ports beside that of the agent, over attempts', async () => {
    const first = checkpointOf();
    first.checkpoint.kept.set('call', { text: 'sent' });
    await first.checkpoint.store();
    expect(agentCheckpoint(first.written.at(-1))).toBeUndefined();
    await first.checkpoint.save([1]);
    expect(agentCheckpoint(first.written.at(-1))).toEqual([1]);
    const second = checkpointOf(first.written.at(-1));
    expect(second.checkpoint.kept.get('call')).toEqual({ text: 'sent' });
    second.checkpoint.kept.set('other', 2);
    await second.checkpoint.store();
    expect(agentCheckpoint(second.written.at(-1))).toEqual([1]);
  });

  it('keeps a value of the agent that looks like its own form', async () => {
    const { checkpoint, written } = checkpointOf();
    checkpoint.kept.set('call', 1);
    await checkpoint.store();
    const copied = written[0] as JsonValue;
    checkpoint.kept.clear();
    await checkpoint.save(copied);
    expect(agentCheckpoint(written[1])).toEqual(copied);
  });

  it('is written in order, and a write after the turn fails alone', async () => {
    const { checkpoint, written } = checkpointOf();
    await Promise.all([checkpoint.save(1), checkpoint.save(2)]);
    expect(written.at(-1)).toBe(2);
    await expect(checkpointOf(undefined, false).checkpoint.save(1)).rejects.toThrow();
  });
});
