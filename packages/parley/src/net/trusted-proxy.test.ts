import { describe, expect, it } from 'vitest';
import { isLoopback } from './loopback.js';
import { trustedProxies } from './trusted-proxy.js';

describe('trusted proxies', () => {
  it.each([
    [['10.1.2.3'], '10.1.2.3', true],
    [['10.1.2.3'], '10.1.2.4', false],
    [['10.0.0.0/8'], '10.200.0.1', true],
    [['10.0.0.0/8'], '11.0.0.1', false],
    [['10.0.0.0/8'], '::ffff:10.200.0.1', true],
    [['fd00::/8'], 'fd12::1', true],
    [['fd00::/8'], '10.0.0.1', false],
    [['::1'], '::1', true],
    [['loopback'], '127.0.0.5', true],
    [['loopback'], '::1', true],
    [['loopback'], '::ffff:127.0.0.1', true],
    [['loopback'], '192.168.0.1', false],
    [['loopback', '192.168.0.0/16'], '192.168.7.1', true],
    [['loopback'], undefined, false],
    [['loopback'], 'a socket', false],
    [[], '127.0.0.1', false],
  ])('%j trust %s: %s', (entries, peer, trusted) => {
    const isTrusted = trustedProxies(entries);
    expect(isTrusted(peer)).toBe(trusted);
    expect(isTrusted(peer)).toBe(trusted);
  });

  it.each(['proxy.local', '10.0.0.0/33', '127.1', '0x7f000001', '10.0.0', '', 'true'])(
    '"%s" is refused by name',
    (entry) => {
      expect(() => trustedProxies(['loopback', entry])).toThrow(`"${entry}"`);
    },
  );

  it('go on answering after many peers', () => {
    const isTrusted = trustedProxies(['10.0.0.0/16']);
    for (let at = 0; at < 3000; at++) expect(isTrusted(`10.${at % 2}.${at % 256}.${at % 251}`)).toBe(at % 2 === 0);
  });
});

describe('loopback', () => {
  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.8.8.8', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.0.1', false],
    ['example.com', false],
    ['', false],
  ])('%s: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
