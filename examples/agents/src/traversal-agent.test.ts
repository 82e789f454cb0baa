import { describe, expect, it } from 'vitest';
import { runTurn, ScriptedClock } from '../test/recorded-turn.js';
import { traversalAgent } from './traversal-agent.js';
import { type CallAgent, type Instruction, instructionOf, instructionPart } from './traversal-instruction.js';

const WORKING = { status: 'WORKING', says: undefined };
const says = (response: string, holdTask = false): Instruction => ({ returnResponse: { response, holdTask } });
const partsOf = (instruction: Instruction) => [instructionPart(instruction)];

describe('traversal agent', () => {
  const calls: CallAgent[] = [];
  const call = async (to: CallAgent) => {
    calls.push(to);
    if (to.agentCardUri === 'nowhere') throw new Error('nobody is there');
    return ['from', 'afar'];
  };
  const agent = (clock = new ScriptedClock()) => traversalAgent({ clock, call }).agent;

  it('returns the texts of all steps in their order', async () => {
    const instructions = [
      says('one'),
      { steps: { instructions: [says('two'), { callAgent: { agentCardUri: 'x' } }] } },
    ];
    expect(await runTurn(agent(), { parts: partsOf({ steps: { instructions } }) })).toEqual([
      WORKING,
      { status: 'COMPLETED', says: 'one\ntwo\nfrom\nafar' },
    ]);
    expect(calls.at(-1)).toMatchObject({ agentCardUri: 'x' });
  });

  it('fails with the text of an error', async () => {
    expect(await runTurn(agent(), { text: 'hello' })).toEqual([
      WORKING,
      { status: 'FAILED', says: 'The message has no instruction' },
    ]);
    expect(await runTurn(agent(), { parts: partsOf({ callAgent: { agentCardUri: 'nowhere' } }) })).toMatchObject([
      WORKING,
      { status: 'FAILED', says: 'nobody is there' },
    ]);
  });

  it('keeps a task open, and ends at once when it is canceled', async () => {
    const clock = new ScriptedClock();
    const held = { steps: { instructions: [says('first'), says('held', true)] } };
    expect(await runTurn(agent(clock), { parts: partsOf(held) })).toEqual([
      WORKING,
      { status: 'WORKING', says: 'first\nheld\ntask-finished' },
      ...Array(5).fill(WORKING),
      { status: 'COMPLETED', says: 'first\nheld' },
    ]);
    expect(clock.pauses).toEqual([2000, 2000, 2000, 2000, 2000]);
    expect(await runTurn(agent(new ScriptedClock(1)), { parts: partsOf(held) })).toHaveLength(2);
  });

  it('reads an instruction from bytes with its media type or its name, and from base64 in a text', () => {
    const part = instructionPart(says('hi'));
    const raw = part.raw !== undefined ? part.raw : '';
    for (const one of [part, { raw, filename: 'instruction.bin' }, { text: raw }]) {
      expect(instructionOf([{ text: '!' }, one])).toEqual({ returnResponse: { response: 'hi' } });
    }
    expect(() => instructionOf([{ raw }])).toThrow('no instruction');
  });
});
