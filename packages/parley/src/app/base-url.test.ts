import { describe, expect, it } from 'vitest';
import type { ExchangeRequest } from '../bindings/http/exchange.js';
import { trustedProxies } from '../net/trusted-proxy.js';
import { type BaseUrlRule, baseUrlOf, keptByBase } from './base-url.js';

const PROXY = '10.0.0.1';
const isTrustedProxy = trustedProxies([PROXY]);
const localAddress = () => ({ url: 'http://127.0.0.1:8080', wildcard: false });

function ask(
  rule: Partial<BaseUrlRule>,
  headers: Record<string, string>,
  { peer = PROXY, local = 'http://192.168.0.5:8080', mount }: { peer?: string; local?: string; mount?: string } = {},
) {
  const request: Pick<ExchangeRequest, 'header' | 'peer' | 'local' | 'mount'> = {
    header: (name) => headers[name],
    peer,
    local,
    mount,
  };
  return baseUrlOf({ bound: localAddress, isTrustedProxy, ...rule })(request as ExchangeRequest);
}

const common = { 'x-forwarded-host': 'agents.example.com', 'x-forwarded-proto': 'https' };

it('a configured url stands above all else', () => {
  expect(ask({ publicUrl: 'https://example.com/base//' }, common)).toBe('https://example.com/base');
});

it('a Host header is never believed', () => {
  expect(ask({}, { host: 'evil.example' })).toBe('http://127.0.0.1:8080');
  expect(ask({}, { host: 'evil.example', 'x-forwarded-proto': 'https' })).toBe('http://127.0.0.1:8080');
});

describe('forwarded headers', () => {
  it.each([
    [common, 'https://agents.example.com'],
    [{ 'x-forwarded-host': 'agents.example.com:8443' }, 'http://agents.example.com:8443'],
    [{ ...common, 'x-forwarded-prefix': '/a2a/' }, 'https://agents.example.com/a2a'],
    [{ 'x-forwarded-host': '[2001:db8::1]:80', 'x-forwarded-proto': 'http' }, 'http://[2001:db8::1]:80'],
    [{ forwarded: 'for=1.2.3.4;host=agents.example.com;proto=https' }, 'https://agents.example.com'],
    [{ forwarded: 'For="[::1]"; Proto=HTTPS; Host="agents.example.com:1"' }, 'https://agents.example.com:1'],
    [{ ...common, forwarded: 'host=agents.example.com;proto=https' }, 'https://agents.example.com'],
  ])('of a trusted proxy make the address: %j', (headers, expected) => {
    expect(ask({}, headers)).toBe(expected);
  });

  it('of several proxies count as the nearest one wrote them', () => {
    const headers = { 'x-forwarded-host': 'evil.example, inner.example', 'x-forwarded-proto': 'ftp, https' };
    expect(ask({}, headers)).toBe('https://inner.example');
    expect(ask({}, { forwarded: 'host=evil.example, host=inner.example;proto=https' })).toBe('https://inner.example');
  });

  it.each([
    ['comes from somebody else', common, '10.0.0.2'],
    ['names an odd host', { 'x-forwarded-host': 'a/b' }, PROXY],
    ['names a host with a user', { 'x-forwarded-host': 'user@evil.example' }, PROXY],
    ['names an odd protocol', { ...common, 'x-forwarded-proto': 'javascript' }, PROXY],
    ['names no host', { 'x-forwarded-proto': 'https' }, PROXY],
    ['contradicts itself', { ...common, forwarded: 'host=evil.example;proto=https' }, PROXY],
  ])('count for nothing when a request %s', (_, headers: Record<string, string>, peer) => {
    expect(ask({}, headers, { peer })).toBe('http://127.0.0.1:8080');
  });

  it.each(['//evil.example', '/a?b', 'a', '/a b', '/a/../b', '/.', ''])('with the prefix %j leave it out', (prefix) => {
    expect(ask({}, { ...common, 'x-forwarded-prefix': prefix })).toBe('https://agents.example.com');
  });

  it('count for nothing without a trusted proxy', () => {
    expect(ask({ isTrustedProxy: undefined }, common)).toBe('http://127.0.0.1:8080');
  });
});

describe('the address bound', () => {
  const everywhere = { bound: () => ({ url: 'http://127.0.0.1:8080', wildcard: true }) };

  it('is the one a request arrived at where all of them are bound', () => {
    expect(ask(everywhere, {})).toBe('http://192.168.0.5:8080');
    expect(baseUrlOf(everywhere)()).toBe('http://127.0.0.1:8080');
  });

  it('is the one a request arrived at where somebody else has bound it', () => {
    expect(ask({ bound: () => undefined }, {}, { local: 'https://192.168.0.5' })).toBe('https://192.168.0.5');
  });

  it('is nothing while there is none', () => {
    expect(baseUrlOf({ bound: () => undefined })()).toBe('');
  });
});

describe('the path of a mount', () => {
  const mount = '/agents/echo';

  it('follows what a proxy or a socket says', () => {
    expect(ask({}, common, { mount })).toBe('https://agents.example.com/agents/echo');
    expect(ask({}, { ...common, 'x-forwarded-prefix': '/a2a' }, { mount })).toBe(
      'https://agents.example.com/a2a/agents/echo',
    );
    expect(ask({}, {}, { mount })).toBe('http://127.0.0.1:8080/agents/echo');
  });

  it('is part of a configured url already', () => {
    expect(ask({ publicUrl: 'https://example.com/agents/echo' }, {}, { mount })).toBe(
      'https://example.com/agents/echo',
    );
  });
});

it('makes a value once for each base url', () => {
  let made = 0;
  const kept = keptByBase((base) => ({ base, number: ++made }));
  expect([kept('a'), kept('b'), kept('a')].map(({ number }) => number)).toEqual([1, 2, 1]);
});

it('keeps no more than twenty, whoever plays with addresses', () => {
  let made = 0;
  const kept = keptByBase(() => ++made);
  for (let at = 0; at < 20; at++) kept(`https://${at}.example`);
  expect([kept('https://0.example'), kept('https://20.example'), kept('https://0.example')]).toEqual([1, 21, 22]);
});
