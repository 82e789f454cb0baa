import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JoinedTexts } from './joined-texts.js';

const text = fc.oneof(fc.string(), fc.constant(undefined), fc.constantFrom('é', 'x'.repeat(3_000)));

it('gives each text back, long ones too', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 20 }), (texts) => {
      const joined = new JoinedTexts(texts);
      expect(texts.map((_, index) => joined.at(index))).toEqual(texts.map((one) => one || undefined));
    }),
  );
});
