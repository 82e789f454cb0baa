import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { expect, it } from 'vitest';
import { allCombinations, filesOf, labelOf } from './combinations.js';

const containers = allCombinations().map((combination) => {
  const { Dockerfile = '', ...files } = filesOf(combination);
  return { name: labelOf(combination), combination, Dockerfile, files };
});
/** One combination for each different Dockerfile. */
const distinct = [...new Map(containers.map((one) => [one.Dockerfile, one])).values()];

it.each(distinct)('the Dockerfile of $name is well-formed, with two stages and without root', ({ Dockerfile }) => {
  expect(validate(Dockerfile).map(({ message }) => message)).toEqual([]);
  const parsed = DockerfileParser.parse(Dockerfile);
  expect(parsed.getFROMs()).toHaveLength(2);
  const last = (keyword: string) =>
    parsed
      .getInstructions()
      .filter((one) => one.getKeyword() === keyword)
      .at(-1);
  const user = last('USER');
  expect(user?.getArgumentsContent()).toBe('node');
  expect(last('HEALTHCHECK')?.getRange().start.line).toBeGreaterThan(user?.getRange().start.line ?? Infinity);
  // The form with a shell would keep the signal to itself.
  expect(last('CMD')?.getArgumentsContent()).toMatch(/^\["node", /);
});

it('the compose file has the database of the storage, and credentials from the environment', () => {
  for (const { combination, files } of containers) {
    const text = files['compose.yaml'] ?? '';
    expect(text.includes('postgres:17')).toBe(combination.storage === 'postgres');
    expect(text.includes('valkey/valkey')).toBe(combination.storage === 'redis');
    expect(text.includes('A2A_API_KEYS: ${A2A_API_KEYS:?')).toBe(combination.auth === 'key');
    expect(text.includes('A2A_OIDC_ISSUER: ${A2A_OIDC_ISSUER:?')).toBe(combination.auth === 'jwt');
    expect(/^ +AI_GATEWAY_API_KEY:$/m.test(text)).toBe(combination.agent === 'ai-sdk');
    expect(/^ +OPENAI_API_KEY:$/m.test(text)).toBe(combination.agent === 'openai-agents');
    // Ports are open to this machine only.
    expect(text.match(/^ +- [\d.:]+:\d+$/gm)?.every((port) => port.includes('- 127.0.0.1:'))).toBe(true);
  }
});

it('without a container there are no files of one', () => {
  const [combination = expect.fail()] = allCombinations();
  const names = Object.keys(filesOf(combination, false));
  expect(names).not.toContain('Dockerfile');
  expect(names).not.toContain('compose.yaml');
});
