import { expect, it } from 'vitest';
import { BearerTokens } from '../exports/auth.js';
import { type ProtectedServer, protectionOf } from './protection.js';

const agent = (prompt: string) => prompt;
const authenticator = new BearerTokens([{ token: 'pl4nted-s3cret-of-ada', subject: 'ada' }]);
const push = (options: NonNullable<ProtectedServer['push']>['options']): ProtectedServer['push'] => ({
  options,
  loadSend: () => Promise.reject(new Error('nothing is sent')),
  refusal: () => undefined,
  random: () => 0,
});

it('describes a server without any protection', () => {
  expect(protectionOf({ agents: { '/': { agent } } }, ['/'])).toEqual({
    authentication: 'open to everyone',
    transport: 'plain HTTP',
    rateLimit: 'none',
    pushTargets: 'none',
  });
});

it('names schemes, proxies, rates and webhooks, and no secret', () => {
  const described = protectionOf(
    {
      agents: { '/': { agent } },
      authenticator,
      tls: { cert: 'cert.pem', key: 'key.pem', passphrase: 'pl4nted-s3cret' },
      trustProxy: ['10.0.0.0/8', 'loopback'],
      rateLimit: { requests: 600, windowMs: 60_000, perPrincipal: { requests: 5, windowMs: 500 } },
      push: push({ allow: ['*.internal'] }),
    },
    [],
  );
  expect(described).toEqual({
    authentication: 'bearer',
    transport: 'TLS, trusts proxies at 10.0.0.0/8, loopback',
    rateLimit: '600/60s per address, 5/0.5s per caller',
    pushTargets: 'public addresses, *.internal',
  });
});

it('names the agents that are open beside others, and the rates of agents', () => {
  const own = { agent, authenticator, ratePerPrincipal: { requests: 1, windowMs: 1000 } };
  const { authentication, rateLimit } = protectionOf({ agents: { '/': own, '/open': { agent } } }, ['/open']);
  expect(authentication).toBe('bearer; open to everyone: /open');
  expect(rateLimit).toBe('agents have their own');
});

it('takes the challenges of an authenticator that has no scheme in the card', () => {
  const authenticate = () => ({ kind: 'anonymous' as const });
  const describeChallenges = (challenges: readonly string[]) =>
    protectionOf({ agents: { '/': { agent } }, authenticator: { challenges, authenticate } }, []).authentication;
  expect(describeChallenges(['Badge realm="gate"'])).toBe('Badge');
  expect(describeChallenges([])).toBe('an authenticator without a scheme');
});

it.each([
  [{}, 'public addresses'],
  [{ allow: ['a.internal'], only: ['a.internal', 'b.example'] }, 'only a.internal, b.example'],
  [{ fetch: () => Promise.reject(new Error('nothing is sent')) }, 'checked by the fetch of the application'],
])('names the webhooks that %o lets the server call', (options, targets) => {
  expect(protectionOf({ agents: {}, push: push(options) }, []).pushTargets).toBe(targets);
});
