import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LogRecord } from '../../task/log-record.js';
import { PackedTail } from './packed-tail.js';

function record(seq: number, written: boolean): LogRecord {
  const artifact = { artifactId: 'a', parts: [{ text: `chunk ${seq}` }] };
  const event = { artifactUpdate: { taskId: 't', contextId: 'c', artifact } };
  const made = LogRecord.of(seq, 1, event, seq % 3 === 0 ? { metadata: { seq } } : {});
  if (written) expect(made.text).toContain('chunk');
  return made;
}

it('a packed log gives its records back from anywhere, whatever was dropped before', () => {
  const drops = fc.array(fc.nat({ max: 90 }), { maxLength: 4 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.boolean(),
      drops,
      fc.nat({ max: 200 }),
      (count, written, gone, at) => {
        const records = Array.from({ length: count }, (_, index) => record(index + 5, written));
        let tail: PackedTail | undefined = PackedTail.of(records);
        let left = records;
        for (const drop of gone) {
          tail = tail?.without(drop);
          left = left.slice(drop);
        }
        expect(tail?.count ?? 0).toBe(left.length);
        const shown = (some: Iterable<LogRecord>) => [...some].map(({ seq, text, metadata }) => [seq, text, metadata]);
        expect(shown(tail?.records(at) ?? [])).toEqual(shown(left.slice(at)));
      },
    ),
  );
});
