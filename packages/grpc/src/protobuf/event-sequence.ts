import type { StreamResponse } from 'parley-a2a';
import type { StreamItem } from 'parley-a2a/server';
import type { DecodedEvent } from './protobuf-codec.js';
import { tagOf, VARINT, WireReader } from './wire-reader.js';
import type { WireWriter } from './wire-writer.js';

/** The field with the sequence number of an event, which is not in the definition. Other clients skip it. */
const SEQUENCE_TAG = tagOf(1000, VARINT);

/** Adds the sequence number of an event, if it has one and the call asks for it. */
export function withSequence({ seq }: StreamItem, withSeq = false): ((writer: WireWriter) => void) | undefined {
  if (!withSeq || seq === undefined) return undefined;
  return (writer) => {
    writer.varint(seq);
    writer.varint(SEQUENCE_TAG);
  };
}

/** A received event with its sequence number. `bytes` are a valid message. */
export function decodedEvent(event: StreamResponse | undefined, bytes: Uint8Array): DecodedEvent | undefined {
  if (event === undefined) return undefined;
  const reader = new WireReader(bytes);
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag !== SEQUENCE_TAG) reader.skip(tag);
    else {
      const seq = reader.int64();
      return Number.isSafeInteger(seq) && seq >= 0 ? { event, id: String(seq) } : { event };
    }
  }
  return { event };
}
