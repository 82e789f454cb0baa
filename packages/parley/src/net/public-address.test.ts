import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, it } from 'vitest';
import { ipText, parseIp } from './ip-address.js';
import { isPublicAddress } from './public-address.js';

function isPublic(text: string): boolean {
  return isPublicAddress(parseIp(text) ?? []);
}

/** The judgement of another implementation. It has no metadata services. */
function isPublicElsewhere(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() === 'rfc6052' && address.match(ipaddr.parseCIDR('64:ff9b::/96'))) {
    return isPublicElsewhere(address.toByteArray().slice(12).join('.'));
  }
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(ipaddr.parseCIDR('2000::/3'));
}

it.each([
  ['8.8.8.8', true],
  ['1.1.1.1', true],
  ['2606:4700::1111', true],
  ['::ffff:8.8.8.8', true],
  ['64:ff9b::808:808', true],
  ['64:ff9b::a00:1', false],
  ['64:ff9b:1::808:808', false],
  ['::ffff:10.0.0.1', false],
  ['::8.8.8.8', false],
  ['168.63.129.16', false],
  ['169.254.169.254', false],
  ['fd00:ec2::254', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
])('%s is public: %s', (text, expected) => {
  expect(isPublic(text)).toBe(expected);
});

/** A member of the other implementation that its types do not have. */
interface Ranged {
  readonly SpecialRanges: Readonly<Record<string, unknown>>;
}

/** The ends of every range of the other implementation, and their neighbours. */
const edges = [
  ...new Set(
    [ipaddr.IPv4, ipaddr.IPv6].flatMap((version) => {
      const ranges = Object.values((version.prototype as unknown as Ranged).SpecialRanges).flat(3) as unknown[];
      return ranges.flatMap((address, at) => {
        const bits = ranges[at + 1];
        if (typeof address === 'number' || typeof bits !== 'number') return [];
        const bytes = (address as ipaddr.IPv4 | ipaddr.IPv6).toByteArray();
        const first = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
        const size = 1n << BigInt(bytes.length * 8 - bits);
        return [first - 1n, first, first + size - 1n, first + size]
          .filter((number) => number >= 0n && number < 1n << BigInt(bytes.length * 8))
          .map((number) => {
            const groups = Array.from({ length: bytes.length / 2 }, (_, group) =>
              Number((number >> BigInt((bytes.length / 2 - 1 - group) * 16)) & 0xffffn),
            );
            return ipText(groups);
          });
      });
    }),
  ),
];

it('agrees with another implementation at the ends of every special range, and anywhere else', () => {
  expect(edges.length).toBeGreaterThan(80);
  expect(edges.filter((text) => isPublic(text) !== isPublicElsewhere(text))).toEqual([]);
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      fc.pre(!/^::[\da-f.:]*\./i.test(text) || text.toLowerCase().startsWith('::ffff:'));
      expect(isPublic(text)).toBe(isPublicElsewhere(text));
    }),
    { numRuns: 3000 },
  );
});
