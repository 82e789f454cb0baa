import type { AuthPart } from './part.js';
import type { Choice } from './questions.js';

/** Every authentication of callers. */
export const AUTHENTICATIONS: Readonly<Record<Choice<'auth'>, AuthPart>> = {
  none: {
    summary: 'Every program on this machine may call it.',
    server: {},
  },
  key: {
    summary: 'Callers need an API key of `A2A_API_KEYS`.',
    server: {
      imports: { 'parley-a2a/node': ['credentialAuthenticator'] },
      lines: [
        'const authenticator = await credentialAuthenticator(config.credentials);',
        "if (authenticator === undefined) throw new Error('No caller has a key. Set A2A_API_KEYS, such as ada=<key>.');",
      ],
      options: ['authenticator'],
    },
    client: {
      imports: { 'parley-a2a/credentials': ['apiKey'] },
      credentials: "apiKey(process.env.AGENT_KEY ?? '')",
    },
    variables: [
      { name: 'A2A_API_KEYS', meaning: 'names of callers with their keys, separated by commas', value: 'me=<key>' },
      { name: 'AGENT_KEY', meaning: 'the key that ask.ts sends', value: '<key>' },
      { name: 'A2ACLI_API_KEY', meaning: 'the key that the command line sends', value: '<key>' },
    ],
    composeVariables: ['A2A_API_KEYS'],
  },
  jwt: {
    summary: 'Callers need a token of the OpenID Connect provider `A2A_OIDC_ISSUER`.',
    server: {
      imports: { 'parley-a2a/auth': ['tokenAuthenticator'] },
      lines: [
        "if (config.tokens === undefined) throw new Error('Set A2A_OIDC_ISSUER and A2A_JWT_AUDIENCE.');",
        'const authenticator = tokenAuthenticator(config.tokens, { logger });',
      ],
      options: ['authenticator'],
    },
    client: {
      imports: { 'parley-a2a/credentials': ['bearerToken'] },
      credentials: "bearerToken(process.env.AGENT_TOKEN ?? '')",
    },
    variables: [
      {
        name: 'A2A_OIDC_ISSUER',
        meaning: 'OpenID Connect provider of the callers',
        value: 'https://id.example.com/realms/agents',
      },
      { name: 'A2A_JWT_AUDIENCE', meaning: 'audience of their tokens: this agent', value: 'my-agent' },
      { name: 'AGENT_TOKEN', meaning: 'the token that ask.ts sends' },
      { name: 'A2ACLI_BEARER', meaning: 'the token that the command line sends' },
    ],
    composeVariables: ['A2A_OIDC_ISSUER', 'A2A_JWT_AUDIENCE'],
  },
};
