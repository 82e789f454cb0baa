import { describe, expect, it } from 'vitest';
import { A2AError } from '../errors/a2a-error.js';
import { chooseVersion, isLater, isLegacy, majorMinor } from './versions.js';

const offered = new Map([
  ['1.0', 'one'],
  ['0.3', 'old'],
]);

describe('versions', () => {
  it.each([
    ['1.0', '1.0'],
    ['1.0.1', '1.0'],
    ['10.20.30-rc.1+x', '10.20'],
    ['1', '1'],
    ['v1.0', 'v1.0'],
    ['', ''],
  ])('reduce %s to %s (Spec §3.6)', (version, reduced) => {
    expect(majorMinor(version)).toBe(reduced);
  });

  it.each([
    ['1.0', 'one'],
    [' 1.0.7 ', 'one'],
    [undefined, 'old'],
    ['', 'old'],
    ['  ', 'old'],
  ])('choose for %s what is offered (Spec §3.6.2)', (asked, chosen) => {
    expect(chooseVersion(asked, offered)).toBe(chosen);
  });

  it('take what an endpoint says for an absent one', () => {
    expect(chooseVersion(undefined, offered, '1.0')).toBe('one');
  });

  it('refuse any other, telling those offered (Spec §3.6.2)', () => {
    const metadata = { requestedVersion: '2.0', supportedVersions: '1.0,0.3' };
    expect(() => chooseVersion('2.0', offered)).toThrow(A2AError);
    expect(() => chooseVersion('2.0', offered)).toThrow(expect.objectContaining({ details: { metadata } }));
  });

  it.each([
    ['1.0', '0.3', true],
    ['0.10', '0.3', true],
    ['1.0', '1.0', false],
    ['0.3', '1.0', false],
    ['2.0', '1.9', true],
  ])('%s is later than %s: %s', (version, other, later) => {
    expect(isLater(version, other)).toBe(later);
  });

  it('before 1.0 are legacy', () => {
    expect([isLegacy('0.2'), isLegacy('0.3'), isLegacy('1.0'), isLegacy('10.0')]).toEqual([true, true, false, false]);
  });
});
