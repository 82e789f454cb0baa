import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkedConnections } from '../../packages/parley/src/adapters/node/checked-connections.js';
import { RefusedAddressError } from '../../packages/parley/src/errors/refused-address-error.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { guardedFetch } from '../../packages/parley/src/net/guarded-fetch.js';
import { TestDns } from '../support/test-dns.js';
import { WatchedListener } from './watched-listener.js';

/** Hosts in every spelling that a parser of urls, an operating system or DNS may read as a private address. */
const LITERALS = [
  // Loopback in all bases and lengths.
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '0x7f000001',
  '0x7F.0x0.0x0.0x1',
  '0x7f.1',
  '0x7f.0.1',
  '0177.0x0.0.1',
  '127.0x1',
  '00000177.0.0.1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  // Digits and dots of other scripts.
  '１２７.０.０.１',
  '127。0。0。1',
  '127．0．0．1',
  '127｡0｡0｡1',
  '①②⑦.⓪.⓪.①',
  '𝟏𝟐𝟕.𝟎.𝟎.𝟏',
  '127.0.0.1\u00ad',
  '127\t.0.0.1',
  // Unspecified.
  '0',
  '0.0.0.0',
  '0x0',
  '00.0',
  '0.1.2.3',
  // Private, link-local, shared, reserved and metadata addresses.
  '10.0.0.1',
  '0xa000001',
  '10.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '0300.0250.0.1',
  '3232235521',
  '169.254.169.254',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '2852039166',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  // IPv6.
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::]',
  '[::0.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a00:1]',
  '[64:ff9b:1::8.8.8.8]',
  '[2002:7f00:1::1]',
  '[2002:a00:1::]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  '[fe80::1]',
  '[fe80::1%25lo]',
  '[fe80::1%lo]',
  '[::1%25lo]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[2001:2::1]',
  '[5f00::1]',
  '[4000::1]',
  // The machine by name.
  'localhost',
  'LOCALHOST',
  'localhost.',
  'agent.localhost',
  'ｌｏｃａｌｈｏｓｔ',
  'user@127.0.0.1',
  'example.com@127.0.0.1',
  'user:password@example.com',
];

const NAMES = {
  'loopback.test': ['127.0.0.1'],
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'unspecified.test': ['0.0.0.0'],
  'six.test': ['::1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'compatible.test': ['::127.0.0.1'],
  'translated.test': ['64:ff9b::7f00:1'],
  'local-network.test': ['fd00::1'],
  'link-local.test': ['fe80::1'],
  'private-last.test': ['93.184.216.34', '127.0.0.1'],
  'private-first.test': ['127.0.0.1', '93.184.216.34'],
  'private-six.test': ['93.184.216.34', '::1'],
  'xn--bcher-kva.test': ['127.0.0.1'],
  'rebound.test': (queries: number) => (queries === 0 ? ['93.184.216.34'] : ['127.0.0.1']),
  'pinned.test': (queries: number) => (queries === 0 ? ['127.0.0.2'] : ['127.0.0.1']),
} as const;

let listener: WatchedListener;
let dns: TestDns;

beforeAll(async () => {
  [listener, dns] = await Promise.all([WatchedListener.open(), TestDns.open(NAMES)]);
});
afterAll(async () => {
  await listener[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});
beforeEach(() => {
  listener.connections.length = 0;
  listener.requests.length = 0;
  listener.answer = (_, response) => void response.end('ok');
});

const createGuardedFetch = (allow: readonly string[] = [], more: { readonly only?: readonly string[] } = {}) =>
  guardedFetch({ clock: systemClock, allow, ...more, connections: checkedConnections({ lookup: dns.lookup }) });

describe('an address that is not public', () => {
  it.each([...LITERALS, ...Object.keys(NAMES).filter((name) => !/rebound|pinned/.test(name)), 'bücher.test'])(
    'is not called as %s',
    async (host) => {
      for (const method of ['GET', 'POST'])
        for (const scheme of ['http', 'HTTPS']) {
          const url = `${scheme}://${host}:${listener.port}/`;
          await expect(createGuardedFetch()(url, { method })).rejects.toBeInstanceOf(RefusedAddressError);
        }
      expect(listener.connections).toEqual([]);
    },
  );

  it('is not called if the answer of DNS changes after a check', async () => {
    expect(await dns.lookup('rebound.test')).toEqual([{ address: '93.184.216.34', family: 4 }]);
    await expect(createGuardedFetch()(`http://rebound.test:${listener.port}/`, {})).rejects.toBeInstanceOf(
      RefusedAddressError,
    );
    expect(listener.connections).toEqual([]);
  });

  it('is not called if the answer of DNS changes after the lookup', async () => {
    const answer = await createGuardedFetch(['127.0.0.2'])(`http://pinned.test:${listener.port}/`, {});
    expect(await answer.text()).toBe('ok');
    expect(listener.connections).toEqual(['127.0.0.2']);
  });

  it.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:,x', 'gopher://127.0.0.1/', 'no url', 'http://', ''])(
    'is not called as %s',
    async (url) => {
      await expect(createGuardedFetch(['127.0.0.1'])(url, {})).rejects.toBeInstanceOf(RefusedAddressError);
    },
  );

  it.each([22, 25, 110, 6000, 6667, 10080])('is not called at port %d, even if it is public', async (port) => {
    await expect(createGuardedFetch()(`http://93.184.216.34:${port}/`, {})).rejects.toThrow('is not called');
    await expect(createGuardedFetch()(`http://public.test:${port}/`, {})).rejects.toThrow('is not called');
  });

  it('is named by no error, nor is a secret in the url', async () => {
    const url = `http://private.test:${listener.port}/hook?token=s3cret`;
    const error = await createGuardedFetch()(url, {}).catch((reason: Error) => reason);
    expect(String(error)).toContain('private.test');
    expect(String(error)).not.toMatch(/10\.0\.0\.1|s3cret|hook/);
  });
});

describe('allowed destinations', () => {
  it.each([
    [['127.0.0.1'], '127.0.0.1'],
    [['127.0.0.1'], '[::ffff:127.0.0.1]'],
    [['127.0.0.0/8'], '2130706433'],
    [['::1'], '[::1]'],
    [['[::1]'], '[::1]'],
    [['::/64'], '[::1]'],
    [['[::]/64'], '[::1]'],
    [['127.0.0.1'], 'loopback.test'],
    [['loopback.test'], 'loopback.test'],
    [['loopback.test'], 'LOOPBACK.test.'],
    [['bücher.test'], 'BÜCHER.test'],
    [['*.test'], 'loopback.test'],
  ])('%j: %s is called', async (allow, host) => {
    for (const port of ['', `:${listener.port}`]) {
      const answer = await createGuardedFetch(
        allow.map((entry) => (entry.includes('::') && !entry.includes('[') ? entry : entry + port)),
      )(`http://${host}:${listener.port}/`, {});
      expect(await answer.text()).toBe('ok');
    }
  });

  it.each([
    [['127.0.0.2'], '127.0.0.1'],
    [['127.0.0.1:1'], '127.0.0.1'],
    [['loopback.test:1'], 'loopback.test'],
    [['other.test'], 'loopback.test'],
    [['loopback.test'], '127.0.0.1'],
    [['test'], 'loopback.test'],
    [['*.loopback.test'], 'loopback.test'],
    [['fd00::/8'], '10.0.0.1'],
    [['0.0.0.0/0'], '[fd00::1]'],
    [['10.0.0.1'], 'private-last.test'],
  ])('%j: %s is not called', async (allow, host) => {
    const call = createGuardedFetch(allow)(`http://${host}:${listener.port}/`, {});
    await expect(call).rejects.toBeInstanceOf(RefusedAddressError);
    expect(listener.connections).toEqual([]);
  });

  it('may be the only ones', async () => {
    const only = createGuardedFetch(['127.0.0.1', '127.0.0.2'], { only: ['127.0.0.1'] });
    expect((await only(`http://127.0.0.1:${listener.port}/`, {})).status).toBe(200);
    await expect(only(`http://127.0.0.2:${listener.port}/`, {})).rejects.toThrow('is not called');
    await expect(only('http://93.184.216.34/', {})).rejects.toThrow('is not called');
    const closed = createGuardedFetch([], { only: ['127.0.0.1'] });
    await expect(closed(`http://127.0.0.1:${listener.port}/`, {})).rejects.toThrow('is not called');
  });

  it.each(['http://a.example', 'a b', '10.0.0.0/33', 'a.example/8', '127.1', '0x7f000001', '[::1', '*', 'a*.b', ''])(
    '%j is refused by name',
    (entry) => {
      expect(() => createGuardedFetch(['a.example', entry])).toThrow(`"${entry}"`);
      expect(() => createGuardedFetch([], { only: [entry] })).toThrow(`"${entry}"`);
    },
  );
});
