import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { turnDiagram } from '../../../test/turn-diagram.js';
import { TurnWorld } from '../../../test/turn-world.js';
import { acceptsEvents, type TurnInput, type TurnState } from './turn-state.js';
import { TRANSITIONS } from './turn-transitions.js';

const STATES = Object.keys(TRANSITIONS) as TurnState[];
const INPUTS = Object.keys(TRANSITIONS.claimed) as TurnInput[];

interface Explored {
  readonly worlds: ReadonlyMap<string, TurnWorld>;
  /** Pairs of state and input that occurred. */
  readonly pairs: ReadonlySet<string>;
  /** Per world, the worlds that are reached by inputs of timers and the storage only. */
  readonly certain: ReadonlyMap<string, readonly string[]>;
}

/** All reachable worlds. */
function explore(): Explored {
  const worlds = new Map<string, TurnWorld>();
  const pairs = new Set<string>();
  const certain = new Map<string, readonly string[]>();
  const open = [TurnWorld.of('claim'), TurnWorld.of('draft')];
  for (const world of open) worlds.set(world.key, world);
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    const sure: string[] = [];
    for (const input of world.possible) {
      pairs.add(`${world.state} + ${input}`);
      const next = world.after(input);
      if (world.certain.includes(input)) sure.push(next.key);
      if (worlds.has(next.key)) continue;
      worlds.set(next.key, next);
      open.push(next);
    }
    certain.set(world.key, sure);
  }
  return { worlds, pairs, certain };
}

const explored = explore();

describe('the states of a turn', () => {
  it('break no rule in any world that can be reached', () => {
    const reached = new Set(Array.from(explored.worlds.values(), ({ state }) => state));
    expect(STATES.filter((state) => !reached.has(state))).toEqual([]);
    expect(explored.worlds.size).toBeGreaterThan(300);
  });

  it('have a step for every input that can come, and only for these', () => {
    const unmet = STATES.flatMap((state) =>
      INPUTS.filter((input) => {
        const next = TRANSITIONS[state][input];
        const isMet = explored.pairs.has(`${state} + ${input}`);
        // An input without effect may also never come.
        return next !== 'impossible' && !isMet && (next.state !== state || next.effects.length > 0);
      }).map((input) => `${state} + ${input}`),
    );
    expect(unmet).toEqual([]);
  });

  it('end without an agent and without the process: timers and the storage are enough', () => {
    const ends = new Set(Array.from(explored.worlds).flatMap(([key, world]) => (world.isOver ? [key] : [])));
    for (let size = -1; size !== ends.size; ) {
      size = ends.size;
      for (const [key, next] of explored.certain) if (next.some((each) => ends.has(each))) ends.add(key);
    }
    const stuck = new Set(Array.from(explored.worlds).flatMap(([key, { state }]) => (ends.has(key) ? [] : [state])));
    // The process must still start these, or monitors their authorization.
    expect([...stuck].sort()).toEqual(['claimed', 'drafted', 'kept']);
  });

  it('keep the rules over random sequences of inputs', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(fc.nat(), { maxLength: 60 }), (isDraft, picks) => {
        let world = TurnWorld.of(isDraft ? 'draft' : 'claim');
        for (const pick of picks) {
          const input = world.possible[pick % world.possible.length];
          if (input === undefined) return;
          world = world.after(input);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('take events only while an agent works', () => {
    expect(STATES.filter((state) => acceptsEvents(state) && !state.startsWith('storing'))).toEqual([
      'draft',
      'open',
      'running',
      'asking',
      'canceling',
    ]);
  });

  it('are drawn in README.md', async () => {
    const text = await readFile(new URL('README.md', import.meta.url), 'utf8');
    expect(/```mermaid\n(stateDiagram[^`]*)\n```/.exec(text)?.[1]).toBe(turnDiagram());
  });

  it('do nothing for a chunk but append it', () => {
    expect(TRANSITIONS.running.chunk).toEqual({ state: 'running', effects: [{ do: 'append event' }] });
  });
});
