import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ipText, isInRange, parseIp, parseRange, unmapAddress } from './ip-address.js';

/** The spelling that Node.js and the URL standard give an address; `undefined` for a text that is none. */
function spelledElsewhere(text: string): string | undefined {
  if (isIPv4(text)) return text;
  return isIPv6(text) ? new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1) : undefined;
}

function versionOf(text: string): 'ipv4' | 'ipv6' {
  return isIP(text) === 4 ? 'ipv4' : 'ipv6';
}

const byte = fc.nat(260).map(String);
const ipv4 = fc.array(byte, { minLength: 3, maxLength: 5 }).map((bytes) => bytes.join('.'));
const group = fc.oneof(
  fc.constantFrom('0', '0', '0000', 'ffff', '12345', 'g', ''),
  fc.nat(0xffff).map((n) => n.toString(16)),
);
const nearlyIpv6 = fc
  .tuple(fc.array(group, { maxLength: 9 }), fc.option(ipv4, { nil: undefined }), fc.constantFrom('', '', '%eth0', '%'))
  .map(([groups, tail, zone]) => `${[...groups, ...(tail === undefined ? [] : [tail])].join(':')}${zone}`);
const address = fc.oneof(fc.ipV4(), fc.ipV6());

describe('addresses', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8:0:0:1:0:0:0', '2001:db8:0:0:1::'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['10:0:0:1:0:0:0:10', '10:0:0:1::10'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:192.0.2.1', '::ffff:c000:201'],
  ])('%s is read and spelled %s', (text, spelled) => {
    expect(ipText(parseIp(text) ?? [])).toBe(spelled);
  });

  it.each(['', ':', ':::', '1', '127.1', '0x7f.0.0.1', '01.2.3.4', '1.2.3.256', '1:2:3:4:5:6:7', '1::2::3', '::1.2.3'])(
    '"%s" is none',
    (text) => {
      expect(parseIp(text)).toBeUndefined();
    },
  );

  it.each([address, ipv4, nearlyIpv6, fc.string()])(
    'are those that Node.js reads, in the spelling of a URL',
    (texts) => {
      fc.assert(
        fc.property(texts, (text) => {
          const read = parseIp(text);
          expect(read && ipText(read)).toBe(spelledElsewhere(text));
        }),
        { numRuns: 2000 },
      );
    },
  );

  it('are in the ranges that Node.js finds them in', () => {
    fc.assert(
      fc.property(address, address, fc.nat(128), fc.boolean(), (one, other, bits, isNear) => {
        const network = isNear ? one : other;
        const version = versionOf(network);
        const range = parseRange(`${network}/${bits}`);
        expect(range === undefined).toBe(version === 'ipv4' && bits > 32);
        if (range === undefined || versionOf(one) !== version) return;
        const list = new BlockList();
        list.addSubnet(network, bits, version);
        expect(isInRange(parseIp(one) ?? [], range)).toBe(list.check(one, version));
      }),
      { numRuns: 2000 },
    );
  });

  it('of one version of IP are in no range of the other', () => {
    expect(isInRange(parseIp('0.0.0.0') ?? [], { address: parseIp('::') ?? [], bits: 0 })).toBe(false);
  });

  it('that IPv6 maps from IPv4 are those of IPv4', () => {
    expect(ipText(unmapAddress(parseIp('::ffff:192.0.2.1') ?? []))).toBe('192.0.2.1');
    expect(ipText(unmapAddress(parseIp('::fffe:192.0.2.1') ?? []))).toBe('::fffe:c000:201');
  });

  it.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', '10.0.0.0/08x', '/8'])(
    '"%s" is no range',
    (text) => {
      expect(parseRange(text)).toBeUndefined();
    },
  );
});
