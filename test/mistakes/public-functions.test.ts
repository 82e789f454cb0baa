import { expect, it } from 'vitest';
import { printedBy } from './mistake.js';
import { PUBLIC_FUNCTIONS } from './public-functions.js';

/** Errors that name the argument: what the function takes, or which option is wrong. */
const TOLD = /^(?:OptionsError|AgentCardError|RangeError|WaitTimeoutError): ./;

it.each(PUBLIC_FUNCTIONS)('%s says what it takes', async (name, call) => {
  // A boolean is a schema, and nothing else that a function takes.
  const { text, place } = await printedBy(() => call(name === 'jsonSchema' ? 5 : true));
  expect(text).toMatch(TOLD);
  expect(place).toContain('/test/mistakes/');
});

it('all public functions are among them', () => {
  expect(PUBLIC_FUNCTIONS.length).toBeGreaterThan(100);
});
