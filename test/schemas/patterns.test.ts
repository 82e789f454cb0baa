import { connect, createA2AServer, type Message } from 'parley-a2a';
import { agentSchemas } from 'parley-a2a/schemas';
import { describe, expect, it } from 'vitest';

const sendParams = (data: unknown) => ({ message: { parts: [{ data }] } as unknown as Message });

async function serveAgent(input: unknown) {
  const server = createA2AServer({ agent: () => 'done', schemas: agentSchemas({ input: input as never }) });
  const { url } = await server.listen(0);
  const client = await connect(url);
  return {
    /** True if the server takes the data; false if they do not fit. */
    takes: (data: unknown) =>
      client.sendMessage(sendParams(data)).then(
        () => true,
        (error: { code?: string }) => (error.code === 'INVALID_PARAMS' ? false : Promise.reject(error)),
      ),
    [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }),
  };
}

/** The CPU time of one call divided by that of another. Both are called in turn, so that a busy machine slows both. */
async function medianRatio(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < 7; round += 1) {
    for (const [at, call] of [one, other].entries()) {
      const before = process.cpuUsage();
      await call();
      const { user, system } = process.cpuUsage(before);
      times[at]?.push(user + system);
    }
  }
  const [first = 0, second = 1] = times.map((all) => all.sort((a, b) => a - b)[3] ?? 0);
  return first / second;
}

const A = (count: number) => 'a'.repeat(count);

describe('a pattern with several ways to match costs no more than one with a single way', () => {
  it.each([
    ['alternatives in a row', `^${'(aa|a)'.repeat(26)}$`, `${A(50)}!`],
    ['optional characters in a row', `^${'a?'.repeat(28)}${A(28)}$`, `${A(28)}!`],
    ['optional groups in a row', `^${'(?:a|aa)?'.repeat(20)}$`, `${A(40)}!`],
    ['overlapping classes in a row', `^${'[a-c]?[b-d]?'.repeat(14)}$`, `${'bc'.repeat(14)}!`],
    ['a count of alternatives', '^(?:aa|a){26}$', `${A(50)}!`],
    ['a repetition in a repetition', '^(?:a+)+$', `${A(60)}!`],
    ['a repeated choice that overlaps', '^(?:a|a)*$', `${A(60)}!`],
    ['nested counts', '^(?:(?:a{0,2}){0,2}){0,9}$', `${A(40)}!`],
    ['a lazy repetition in a repetition', '^(?:a+?)+?$', `${A(60)}!`],
    ['classes of Unicode that overlap', String.raw`^(?:\p{L}+|\w+)+$`, `${A(60)}!`],
    ['repetitions in a row, without a fixed start', 'a*a*a*a*a*a*b', A(2_000)],
    ['a boundary in a repetition', String.raw`^(?:a\b|a)+$`, `${A(60)}!`],
  ])('%s', async (_name, pattern, text) => {
    const schemaWith = (one: string) => ({ type: 'object', properties: { text: { type: 'string', pattern: one } } });
    await using ambiguous = await serveAgent(schemaWith(pattern));
    await using plain = await serveAgent(schemaWith(`^${'[a-z]'.repeat(26)}[0-9]$`));
    expect(await ambiguous.takes({ text })).toBe(false);
    expect(await plain.takes({ text })).toBe(false);
    const ratio = await medianRatio(
      () => ambiguous.takes({ text }),
      () => plain.takes({ text }),
    );
    expect(ratio).toBeLessThan(10);
  });

  it('names of members too', async () => {
    await using ambiguous = await serveAgent({ propertyNames: { pattern: `^${'(aa|a)'.repeat(26)}$` } });
    await using plain = await serveAgent({ propertyNames: { pattern: '^[a-z]{26}[0-9]$' } });
    const data = { [`${A(50)}!`]: 1 };
    const ratio = await medianRatio(
      () => ambiguous.takes(data),
      () => plain.takes(data),
    );
    expect(ratio).toBeLessThan(10);
  });
});
