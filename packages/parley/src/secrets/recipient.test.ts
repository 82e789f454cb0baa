import { describe, expect, it } from 'vitest';
import { SecretError } from '../errors/secret-error.js';
import { Recipient, sealFor } from './recipient.js';

const PLACE = ['reply', 'task 1'];

describe('a secret for a recipient', () => {
  it('opens for the recipient only, and only at its place', async () => {
    const recipient = await Recipient.create();
    const text = await sealFor(recipient.publicKey, 'code 4711 ä', PLACE);
    expect(text).not.toContain('4711');
    expect(await recipient.open(text, PLACE)).toBe('code 4711 ä');
    await expect(recipient.open(text, ['reply', 'task 2'])).rejects.toThrow(SecretError);
    await expect((await Recipient.create()).open(text, PLACE)).rejects.toThrow(SecretError);
  });

  it('has another text each time', async () => {
    const { publicKey } = await Recipient.create();
    expect(await sealFor(publicKey, 'x', PLACE)).not.toBe(await sealFor(publicKey, 'x', PLACE));
  });
});
