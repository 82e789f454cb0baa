import { describe, expect, it } from 'vitest';
import { SecretError } from '../errors/secret-error.js';
import { requirePlain, SecretBox } from './secret-box.js';

const OLD = '0'.repeat(64);
const NEW = `${'A'.repeat(42)}E=`;
const PLACE = ['push', 'agent', '', null, 't1', 'hook', 'token'];

describe('a secret box', () => {
  it('opens what it has sealed, at the same place only', async () => {
    const box = new SecretBox([OLD]);
    for (const secret of ['s3cret', '', 'ünïcode 🔑', 'x'.repeat(100_000)]) {
      const sealed = await box.seal(secret, PLACE);
      expect(sealed).not.toContain('s3cret');
      expect(await box.open(sealed, PLACE)).toBe(secret);
      for (const place of [['push'], [...PLACE, ''], PLACE.map((one) => one ?? 'null'), PLACE.toReversed()])
        await expect(box.open(sealed, place)).rejects.toBeInstanceOf(SecretError);
    }
  });

  it('has one text for an equal secret at one place, and others elsewhere', async () => {
    const texts = await Promise.all([
      new SecretBox([OLD]).seal('a', PLACE),
      new SecretBox([OLD]).seal('a', PLACE),
      new SecretBox([OLD]).seal('b', PLACE),
      new SecretBox([OLD]).seal('a', ['elsewhere']),
      new SecretBox([NEW]).seal('a', PLACE),
    ]);
    expect(texts[0]).toBe(texts[1]);
    expect(new Set(texts).size).toBe(4);
  });

  it('encrypts with the first key and decrypts with all', async () => {
    const old = await new SecretBox([OLD]).seal('a', PLACE);
    const both = new SecretBox([NEW, OLD]);
    expect(await both.open(old, PLACE)).toBe('a');
    expect([await both.isCurrent(old), await both.isCurrent(await both.seal('a', PLACE))]).toEqual([false, true]);
    await expect(new SecretBox([NEW]).open(old, PLACE)).rejects.toThrow(
      /encrypted with the key [\da-f]{16}, which is not/,
    );
  });

  it('refuses a text that was changed at any place', async () => {
    const box = new SecretBox([OLD]);
    const sealed = await box.seal('s3cret', PLACE);
    const start = sealed.lastIndexOf('.') + 1;
    for (let at = start; at < sealed.length - 1; at++) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      await expect(box.open(changed, PLACE)).rejects.toThrow('was changed or moved');
    }
    // A text cut short may be no base64 any more.
    for (let end = sealed.length - 1; end >= start + 38; end--)
      await expect(box.open(sealed.slice(0, end), PLACE)).rejects.toBeInstanceOf(SecretError);
  });

  it('returns a text from before there were keys, and never one that is encrypted', async () => {
    const box = new SecretBox([OLD]);
    expect(await box.open('plain', PLACE)).toBe('plain');
    expect(requirePlain('plain')).toBe('plain');
    const sealed = await box.seal('s3cret', PLACE);
    expect(() => requirePlain(sealed)).toThrow('not configured. Add it to secretKeys');
    // A caller may send a text that looks encrypted.
    expect(await box.open(await box.seal(sealed, PLACE), PLACE)).toBe(sealed);
  });

  it.each([[[]], [['short']], [[OLD, 'x'.repeat(64)]], [['']], [['!'.repeat(43)]]])(
    'refuses the keys %j and does not repeat them',
    (keys) => {
      expect(() => new SecretBox(keys)).toThrow(keys.length === 0 ? 'at least one' : `[${keys.length - 1}] must be`);
      expect(() => new SecretBox(keys)).not.toThrow(/x{64}|short|!!/);
    },
  );

  it('takes a key in base64, base64url and hex', async () => {
    const bytes = Buffer.from(Array.from({ length: 32 }, (_, at) => 255 - at));
    const sealed = await new SecretBox([bytes.toString('hex')]).seal('a', PLACE);
    for (const form of ['base64', 'base64url'] as const)
      expect(await new SecretBox([bytes.toString(form)]).open(sealed, PLACE)).toBe('a');
    expect(await new SecretBox([bytes.toString('hex').toUpperCase()]).open(sealed, PLACE)).toBe('a');
  });
});
