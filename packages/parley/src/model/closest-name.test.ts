import fc from 'fast-check';
import { expect, it } from 'vitest';
import { closestName } from './closest-name.js';

const names = ['name', 'description', 'streaming', 'skills', 'PORT'];

it.each([
  ['skill', 'skills'],
  ['Streaming', 'streaming'],
  ['straeming', 'streaming'],
  ['descripton', 'description'],
  ['port', 'PORT'],
  ['nmae', 'name'],
  ['whatever', undefined],
  ['', undefined],
])('%s means %s', (name, meant) => {
  expect(closestName(name, names)).toBe(meant);
});

it('one letter more or less is always near, and a name is nearest to itself', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 3 }),
      fc.nat(),
      fc.string({ minLength: 1, maxLength: 1 }),
      (name, at, letter) => {
        const place = at % (name.length + 1);
        expect(closestName(name.slice(0, place) + letter + name.slice(place), [name])).toBe(name);
        expect(closestName(name, [`${name}${letter}`, name])).toBe(name);
      },
    ),
  );
});
