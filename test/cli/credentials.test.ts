import { describe, expect, it } from 'vitest';
import { parley } from './parley.js';
import { type Answer, type RecordedRequest, RecordingAgent, result } from './recording-agent.js';

describe('credentials', () => {
  const keyScheme = (location: string, name: string) => ({
    securitySchemes: { key: { apiKeySecurityScheme: { location, name } } },
    securityRequirements: [{ schemes: { key: {} } }],
  });
  const bearerScheme = {
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: {} } }],
  };

  it('AUTH_001, AUTH_002: a bearer token and an API key of flags and variables are sent in the place that the card declares', async () => {
    await using bearer = await RecordingAgent.start({ card: bearerScheme });
    await parley(['send', '-a', bearer.url, 'x', '--bearer', 'tok-1']);
    await parley(['send', '-a', bearer.url, 'x'], { env: { A2ACLI_BEARER: 'tok-2' } });
    await parley(['send', '-a', bearer.url, 'x', '--bearer', 'tok-3'], { env: { A2ACLI_BEARER: 'tok-2' } });
    expect(bearer.calls.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer tok-1',
      'Bearer tok-2',
      'Bearer tok-3',
    ]);
    for (const [location, read] of [
      ['header', ({ headers }: RecordedRequest) => headers['x-key']],
      ['query', ({ query }: RecordedRequest) => query['X-Key']],
      ['cookie', ({ headers }: RecordedRequest) => String(headers.cookie).replace('X-Key=', '')],
    ] as const) {
      await using agent = await RecordingAgent.start({ card: keyScheme(location, 'X-Key') });
      await parley(['send', '-a', agent.url, 'x'], { env: { A2ACLI_API_KEY: 'key-1' } });
      expect(agent.calls.map(read)).toEqual(['key-1']);
      expect(JSON.stringify(agent.requests[0])).not.toContain('key-1');
    }
  });

  it('AUTH_002: the help warns about flags that expose a secret', async () => {
    const { stdout } = await parley(['help', 'send']);
    expect(stdout).toMatch(/process table and the shell history/);
    expect(stdout).toMatch(/A2ACLI_BEARER, A2ACLI_API_KEY/);
  });

  it('AUTH_004: no credential is printed', async () => {
    const echoAuthorization: Answer = ({ headers }) =>
      result({
        message: { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: `you are ${headers.authorization}` }] },
      });
    await using agent = await RecordingAgent.start({ card: bearerScheme, answer: echoAuthorization });
    const { stderr } = await parley([
      'send',
      '-a',
      agent.url,
      'x',
      '--debug',
      '--bearer',
      'very-secret',
      '--svc-param',
      'x-api-token:pl4nted-s3cret-2',
    ]);
    expect(stderr).toMatch(/authorization: <redacted>/);
    expect(stderr).not.toMatch(/very-secret|pl4nted-s3cret-2/);
  });

  it('AUTH_004: no credential is printed encoded, in a query, in a push configuration or in an error', async () => {
    const secret = 'p@ss/w+rd&=1';
    const echoConfiguration: Answer = ({ body, query }) =>
      result({
        id: 'c1',
        taskId: 't1',
        url: `https://hook.example/?echo=${encodeURIComponent(secret)}`,
        token: JSON.stringify(body.params),
        authentication: {
          scheme: Buffer.from(`user:${secret}`).toString('base64'),
          credentials: Object.values(query).join(),
        },
      });
    const card = { ...keyScheme('query', 'Subscription'), capabilities: { pushNotifications: true } };
    await using agent = await RecordingAgent.start({ card, answer: echoConfiguration });
    const { stderr, code } = await parley(
      ['task', 'push-config', 'create', 't1', '--url', 'https://hook.example/', '-a', agent.url, '--debug'],
      {
        env: {
          A2ACLI_API_KEY: secret,
          A2ACLI_TOKEN: 'pl4nted-s3cret-push-1',
          A2ACLI_AUTH_CREDENTIALS: 'pl4nted-s3cret-push-2',
          A2ACLI_AUTH_SCHEME: 'Bearer',
        },
      },
    );
    expect(code).toBe(0);
    expect(agent.calls[0]?.query).toEqual({ Subscription: secret });
    expect(agent.calls[0]?.body.params).toMatchObject({ token: 'pl4nted-s3cret-push-1' });
    expect(stderr).toMatch(/> #2 POST .*Subscription=/);
    expect(stderr).not.toMatch(/pl4nted-s3cret-push-1|pl4nted-s3cret-push-2|w\+rd|w%2Brd|w%2brd/);
    expect(stderr).not.toContain(Buffer.from(`user:${secret}`).toString('base64').slice(8, -4));
  });

  it('missing and refused credentials exit with 4, and the hint names the schemes of the agent', async () => {
    const refuseCall: Answer = () => ({
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      body: { error: { code: 401, message: 'no' } },
    });
    await using agent = await RecordingAgent.start({ card: bearerScheme, answer: refuseCall });
    const missing = await parley(['send', '-a', agent.url, 'x']);
    expect(missing.stderr).toMatch(/A2ACLI_ERR_CREDENTIALS_MISSING.*\nhint: the agent takes --bearer/);
    expect(missing.code).toBe(4);
    const wrong = await parley(['send', '-a', agent.url, 'x', '--bearer', 'bad', '-o', 'json']);
    expect(JSON.parse(wrong.stdout).error).toMatchObject({ code: 'A2ACLI_ERR_AUTH_FAILED' });
    expect(wrong.code).toBe(4);
  });

  it('AUTH_003: --insecure warns, and also about a sent credential', async () => {
    await using agent = await RecordingAgent.start({ card: bearerScheme });
    expect((await parley(['send', '-a', agent.url, 'x'])).stderr).toBe('');
    const { stderr, code } = await parley(['send', '-a', agent.url, 'x', '--insecure', '--bearer', 't']);
    expect(stderr).toMatch(/warning: --insecure: TLS certificates are not verified/);
    expect(stderr).toMatch(/CREDENTIALS ARE SENT/);
    expect(code).toBe(0);
  });

  it('CARD_GET_003, AUTH_008: credentials for the extended card are sent only if the card declares a scheme', async () => {
    const capabilities = { extendedAgentCard: true };
    const extended = {
      name: 'More',
      description: '',
      version: '1',
      supportedInterfaces: [],
      capabilities,
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    const answer: Answer = ({ headers }) =>
      headers.authorization === 'Bearer tok' ? result(extended) : { status: 401, body: {} };
    await using declared = await RecordingAgent.start({ card: { ...bearerScheme, capabilities }, answer });
    const { stdout } = await parley(['card', 'get', '--extended', '-a', declared.url, '--bearer', 'tok']);
    expect((await parley(['card', 'get', declared.url, '--extended', '--bearer', 'tok'])).stdout).toBe(stdout);
    expect(stdout).toMatch(/^Name: More$/m);
    await using silent = await RecordingAgent.start({ card: { capabilities }, answer });
    const { code } = await parley(['card', 'get', '--extended', '-a', silent.url, '--bearer', 'tok']);
    expect(code).toBe(4);
    expect(silent.calls.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});
