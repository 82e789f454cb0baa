import { describe, expect, it } from 'vitest';
import { ApiKeys, BasicUsers, BearerTokens, ClientCertificates } from '../../exports/auth.js';

const SCHEMES = { ApiKeys, BasicUsers, BearerTokens, ClientCertificates } as const;

describe.each(Object.keys(SCHEMES) as (keyof typeof SCHEMES)[])('%s', (name) => {
  const createScheme = (credentials: unknown) => new SCHEMES[name](credentials as []);

  it.each([undefined, null, {}, 'a-key', { keys: [] }])('given %j asks for a list', (credentials) => {
    expect(() => createScheme(credentials)).toThrow(`${name}: needs a list of credentials`);
  });

  it.each([[['a-key']], [[undefined]]])('given %j names the entry', (credentials) => {
    expect(() => createScheme(credentials)).toThrow(`${name}: [0] must be an object`);
  });

  it('asks for a list when they are replaced', async () => {
    const replaceList = async () => createScheme([]).replace({} as []);
    await expect(replaceList()).rejects.toThrow(`${name}: needs a list of credentials`);
  });
});
