import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressGroup, canonicalAddress, clientAddress } from './client-address.js';
import { trustedProxies } from './trusted-proxy.js';

const PROXIES = trustedProxies(['loopback', '10.0.0.0/8', '2001:db8:ff::/48']);

function clientOf(peer: string | undefined, headers: Readonly<Record<string, string>> = {}, proxies = PROXIES) {
  return clientAddress({ peer, header: (name) => headers[name] }, proxies);
}

describe('clientAddress', () => {
  it('is the peer if the peer is no trusted proxy, whatever the headers say', () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
    expect(clientOf('198.51.100.7', headers)).toBe('198.51.100.7');
    expect(clientAddress({ peer: '127.0.0.1', header: (name) => (headers as Record<string, string>)[name] })).toBe(
      '127.0.0.1',
    );
  });

  it('is unknown if the host knows no peer', () => {
    expect(clientOf(undefined, { 'x-forwarded-for': '203.0.113.9' })).toBeUndefined();
    expect(clientOf('', { 'x-forwarded-for': '203.0.113.9' })).toBeUndefined();
  });

  it('is the first address from the right that is no trusted proxy', () => {
    expect(clientOf('127.0.0.1', { 'x-forwarded-for': '203.0.113.9' })).toBe('203.0.113.9');
    expect(clientOf('127.0.0.1', { 'x-forwarded-for': '1.1.1.1, 203.0.113.9, 10.1.2.3,10.0.0.2' })).toBe('203.0.113.9');
    expect(clientOf('127.0.0.1', { forwarded: 'for=1.1.1.1, for=203.0.113.9;proto=https, For="10.0.0.2:8080"' })).toBe(
      '203.0.113.9',
    );
  });

  it('is the leftmost address if the whole chain is trusted', () => {
    expect(clientOf('127.0.0.1', { 'x-forwarded-for': '10.0.0.9, 10.0.0.2' })).toBe('10.0.0.9');
  });

  it('reads ports, brackets, quotes, zones and addresses of IPv4 within IPv6', () => {
    for (const [written, read] of [
      ['203.0.113.9:4711', '203.0.113.9'],
      ['[2001:DB8::7]:4711', '2001:db8::7'],
      ['[2001:db8:0:0::7]', '2001:db8::7'],
      ['2001:db8::7', '2001:db8::7'],
      ['::ffff:203.0.113.9', '203.0.113.9'],
      ['::FFFF:cb00:7109', '203.0.113.9'],
      ['64:ff9b::cb00:7109', '203.0.113.9'],
      ['fe80::1%eth0', 'fe80::1'],
    ] as const) {
      expect(clientOf('127.0.0.1', { 'x-forwarded-for': written })).toBe(read);
    }
    expect(clientOf('127.0.0.1', { forwarded: 'proto=https;for="[2001:db8::7]:4711"' })).toBe('2001:db8::7');
    expect(clientOf('::ffff:127.0.0.1', { 'x-forwarded-for': '203.0.113.9' })).toBe('203.0.113.9');
  });

  it.each([
    '',
    ' ',
    ',',
    'unknown',
    '_hidden',
    'example.com',
    '203.0.113',
    '203.0.113.9.1',
    '0xcb.0.0x71.9',
    '3405803785',
    '0203.0.113.9',
    '[203.0.113.9]',
    '[2001:db8::7',
    '2001:db8::7]',
    '203.0.113.9, ',
    `${'1'.repeat(100)}`,
  ])('is unknown, and no proxy, if a hop that counts is "%s"', (garbage) => {
    expect(clientOf('127.0.0.1', { 'x-forwarded-for': garbage })).toBeUndefined();
    expect(clientOf('127.0.0.1', { forwarded: `for=${garbage}` })).toBeUndefined();
    expect(clientOf('127.0.0.1', { 'x-forwarded-for': `203.0.113.1, ${garbage}, 10.0.0.2` })).toBeUndefined();
    expect(clientOf('127.0.0.1', { 'x-forwarded-for': `${garbage}, 203.0.113.1, 10.0.0.2` })).toBe('203.0.113.1');
  });

  it('is unknown behind more hops than a chain of proxies has', () => {
    expect(clientOf('127.0.0.1', { 'x-forwarded-for': `203.0.113.9${', 10.0.0.2'.repeat(31)}` })).toBe('203.0.113.9');
    expect(clientOf('127.0.0.1', { 'x-forwarded-for': `203.0.113.9${', 10.0.0.2'.repeat(32)}` })).toBeUndefined();
  });

  it('lets no open quote of the client hide the element of the proxy', () => {
    expect(clientOf('127.0.0.1', { forwarded: 'for="1.1.1.1, for=203.0.113.9' })).toBe('203.0.113.9');
    expect(clientOf('127.0.0.1', { forwarded: 'for="1.1.1.1;proto=http, for=203.0.113.9;by="x' })).toBe('203.0.113.9');
    expect(clientOf('127.0.0.1', { forwarded: 'for=1.1.1.1;for=203.0.113.9' })).toBeUndefined();
  });

  it('believes neither header if they tell different clients', () => {
    for (const forwarded of ['for=1.1.1.1', 'for=unknown', 'for=127.0.0.1', '', 'proto=https'])
      expect(clientOf('127.0.0.1', { 'x-forwarded-for': '203.0.113.9', forwarded })).toBeUndefined();
    expect(clientOf('127.0.0.1', { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' })).toBe(
      '203.0.113.9',
    );
  });

  it('never believes what stands to the left of the client that a proxy saw', () => {
    const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 20 }), fc.constant('10.0.0.7'));
    fc.assert(
      fc.property(fc.array(hop, { maxLength: 8 }), (spoofed) => {
        const header = [...spoofed, '203.0.113.9'].join(', ');
        expect(clientOf('10.0.0.1', { 'x-forwarded-for': header })).toBe('203.0.113.9');
        expect(
          clientOf('10.0.0.1', { forwarded: `${spoofed.map((one) => `for=${one}`).join(', ')},for=203.0.113.9` }),
        ).toBe('203.0.113.9');
      }),
    );
  });

  it('gives a canonical address or nothing for every header', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (common, forwarded) => {
        const address = clientOf('127.0.0.1', { 'x-forwarded-for': common, forwarded });
        expect(address === undefined ? undefined : canonicalAddress(address)).toBe(address);
      }),
    );
  });
});

describe('addressGroup', () => {
  it('is one IPv4 address, and the /64 of an IPv6 address', () => {
    expect(addressGroup('203.0.113.9')).toBe('203.0.113.9');
    expect(addressGroup('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
    expect(addressGroup('2001:db8:1:2:ffff::')).toBe('2001:db8:1:2::/64');
    expect(addressGroup('2001:db8:1:3::1')).not.toBe('2001:db8:1:2::/64');
    expect(addressGroup('::1')).toBe('0:0:0:0::/64');
  });
});
