import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { AgentCard } from '../../model/agent-card.js';
import { apiKey } from './api-key.js';
import { basic } from './basic.js';
import { bearerToken } from './bearer-token.js';
import { combineCredentials, type SchemeCredentials } from './scheme-credentials.js';

const SCHEMES = {
  headerKey: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  queryKey: { apiKeySecurityScheme: { location: 'query', name: 'key' } },
  cookieKey: { apiKeySecurityScheme: { location: 'cookie', name: 'session' } },
  otherCookie: { apiKeySecurityScheme: { location: 'cookie', name: 'other' } },
  token: { httpAuthSecurityScheme: { scheme: 'BEARER' } },
  password: { httpAuthSecurityScheme: { scheme: 'basic' } },
  idp: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://idp.example/.well-known/openid-configuration' } },
  digest: { httpAuthSecurityScheme: { scheme: 'Digest' } },
} as const;

function target(requirements: readonly (readonly string[])[] = [], schemes: AgentCard['securitySchemes'] = SCHEMES) {
  const securityRequirements = requirements.map((names) => ({
    schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])),
  }));
  const card = { securitySchemes: schemes, securityRequirements } as unknown as AgentCard;
  return { card, url: 'https://agent.example/a2a' };
}

const TOKEN = { headers: { authorization: 'Bearer t1' }, query: {} };

describe('credentials go where the card says', () => {
  it.each<[string, SchemeCredentials, string, object]>([
    ['a header', apiKey('k1'), 'headerKey', { headers: { 'x-key': 'k1' }, query: {} }],
    ['the query', apiKey('k1'), 'queryKey', { headers: {}, query: { key: 'k1' } }],
    [
      'a cookie',
      apiKey('a=b/+'),
      'cookieKey',
      { headers: { cookie: 'session=a=b/+', origin: 'https://agent.example' }, query: {} },
    ],
    ['HTTP Bearer', bearerToken('t1'), 'token', TOKEN],
    ['OpenID Connect', bearerToken('t1'), 'idp', TOKEN],
    [
      'HTTP Basic, in UTF-8',
      basic({ username: 'ada', password: 'pä:ss' }),
      'password',
      { headers: { authorization: 'Basic YWRhOnDDpDpzcw==' }, query: {} },
    ],
  ])('%s', async (_, credentials, name, expected) => {
    expect(await credentials.credentials(target([[name]]))).toEqual(expected);
  });

  it('a function is asked with every call', async () => {
    let count = 0;
    const credentials = bearerToken(() => `t${++count}`);
    expect(await credentials.credentials(target([['token']]))).toEqual(TOKEN);
    expect(await credentials.credentials(target([['token']]))).toEqual({
      headers: { authorization: 'Bearer t2' },
      query: {},
    });
  });
});

describe('what is sent is chosen from the requirements of the card', () => {
  const both = combineCredentials(bearerToken('t1'), apiKey('k1'));

  it('takes the first alternative that can be satisfied', async () => {
    expect(await both.credentials(target([['password'], ['digest'], ['queryKey'], ['token']]))).toEqual({
      headers: {},
      query: { key: 'k1' },
    });
  });

  it('satisfies all schemes of an alternative, or goes on to the next', async () => {
    expect(
      await both.credentials(
        target([
          ['token', 'password'],
          ['token', 'headerKey'],
        ]),
      ),
    ).toEqual({
      headers: { authorization: 'Bearer t1', 'x-key': 'k1' },
      query: {},
    });
  });

  it('puts two cookies into one header', async () => {
    const keys = combineCredentials(apiKey('a', { scheme: 'cookieKey' }), apiKey('b', { scheme: 'otherCookie' }));
    expect((await keys.credentials(target([['otherCookie', 'cookieKey']]))).headers).toEqual({
      cookie: 'other=b; session=a',
      origin: 'https://agent.example',
    });
  });

  it('keeps what is for one scheme from the others', async () => {
    const named = combineCredentials(apiKey('a', { scheme: 'queryKey' }), apiKey('b'));
    expect(await named.credentials(target([['headerKey']]))).toEqual({ headers: { 'x-key': 'b' }, query: {} });
    expect(await named.credentials(target([['queryKey']]))).toEqual({ headers: {}, query: { key: 'a' } });
  });

  it('prefers to say who calls where nobody has to', async () => {
    expect(await both.credentials(target([[], ['token']]))).toEqual(TOKEN);
    expect(await both.credentials(target([['password'], []]))).toEqual({});
  });

  it('takes any scheme that is described but not required', async () => {
    expect(await both.credentials(target([]))).toEqual({ headers: { 'x-key': 'k1' }, query: {} });
    expect(await basic({ username: 'a', password: 'b' }).credentials(target([], { token: SCHEMES.token }))).toEqual({});
  });

  it('sends to an agent that describes nothing what needs no description', async () => {
    expect(await bearerToken('t1').credentials(target([], {}))).toEqual(TOKEN);
    expect(await apiKey('k1').credentials(target([], {}))).toEqual({});
    const placed = apiKey('k1', { place: { location: 'query', name: 'k' } });
    expect(await placed.credentials(target([], {}))).toEqual({ headers: {}, query: { k: 'k1' } });
  });

  it('says what is asked for where nothing fits, and no secret', async () => {
    const card = {
      ...target().card,
      securityRequirements: [{ schemes: { idp: { list: ['read', 'write'] }, token: {} } }],
    };
    const failure = apiKey('k1').credentials({ card, url: 'https://agent.example' });
    await expect(failure).rejects.toMatchObject({
      name: 'CredentialsError',
      code: 'UNAUTHENTICATED',
      fault: 'missing',
      message: 'The agent asks for idp (read write) and token; given: an API key',
    });
    await expect(apiKey('k1').credentials(target([['unheard-of']]))).rejects.toThrow('unheard-of');
  });

  it('refuses two schemes at once that want the same header', async () => {
    const two = combineCredentials(bearerToken('t1'), basic({ username: 'a', password: 'b' }));
    await expect(two.credentials(target([['token', 'password']]))).rejects.toThrow('the header authorization');
  });
});

describe('a secret that no request can carry', () => {
  it('is refused without being shown', async () => {
    expect(() => bearerToken('se\ncret')).toThrow(/^bearerToken: the secret must be visible characters/);
    expect(() => apiKey('')).toThrow('visible');
    expect(() => basic({ username: 'a:b', password: 'secret' })).toThrow(/^basic: username: must not have a colon/);
    const asked = bearerToken(() => 'se\ncret').credentials(target([['token']]));
    await expect(asked).rejects.toMatchObject({ message: expect.not.stringContaining('cret\n') });
    await expect(asked).rejects.toThrow('visible');
    await expect(apiKey('se;cret').credentials(target([['cookieKey']]))).rejects.toThrow(/^apiKey: the key has/);
  });

  it.each(['', 'a\r\nx', 'a\n', 'a=b', 'a;b', 'a b', 'a"', 'ä', 'a\u0000'])(
    'and a name that no request can carry is refused without the key: %j',
    async (name) => {
      for (const location of ['cookie', 'header'] as const) {
        const schemes = { odd: { apiKeySecurityScheme: { location, name } } };
        const error = await apiKey('s3cret')
          .credentials(target([['odd']], schemes))
          .catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ name: 'CredentialsError', fault: 'missing' });
        expect(inspect(error)).not.toContain('s3cret');
      }
    },
  );
});

describe('what was refused', () => {
  const refuse = async (credentials: SchemeCredentials, times = 1) => {
    const call = target([['token']]);
    const given = await Promise.all(Array.from({ length: times }, () => credentials.credentials(call)));
    return () => Promise.all(given.map((one) => credentials.refused(call, { credentials: one, challenges: [] })));
  };

  it('is final where it does not change', async () => {
    expect(await (await refuse(bearerToken('t1')))()).toEqual([false]);
  });

  it('is renewed once for all who were refused with it, also for those who hear of it late', async () => {
    const asked: object[] = [];
    let token = 'old';
    const credentials = bearerToken(async (about) => {
      asked.push(about);
      if (about.refused === token) token = 'new';
      return token;
    });
    const refused = await refuse(credentials, 50);
    asked.length = 0;
    expect(new Set(await refused())).toEqual(new Set([true]));
    expect(new Set(await refused())).toEqual(new Set([true]));
    expect(asked).toEqual([{ refused: 'old' }]);
    expect((await credentials.credentials(target([['token']]))).headers).toEqual({ authorization: 'Bearer new' });
  });

  it('is not worth a second try where the same comes again', async () => {
    expect(await (await refuse(bearerToken(() => 'same')))()).toEqual([false]);
  });

  it('may be renewed after a renewal that failed', async () => {
    let fails = true;
    const refused = await refuse(
      bearerToken(({ refused: old }) => {
        if (old === undefined) return 'old';
        if (fails) throw new Error('the vault is sealed');
        return 'new';
      }),
    );
    await expect(refused()).rejects.toThrow('the vault is sealed');
    fails = false;
    expect(await refused()).toEqual([true]);
  });

  it('keeps nobody waiting who no longer wants to', async () => {
    const leaving = new AbortController();
    const waiting = bearerToken(() => new Promise<string>(() => {})).credentials({
      ...target([['token']]),
      signal: leaving.signal,
    });
    leaving.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});
