import type { Attack } from './attack.js';

export const BYTES_OF_PEERS: readonly Attack[] = [
  {
    attack:
      'A callee ends each line of its stream with CR: a search for LF runs to the end of the chunk for each line.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'lines that end with CR',
  },
  {
    attack: 'A callee puts one CR behind thousands of lines: a search for CR runs over all of them for each line.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'one CR behind many lines',
  },
  {
    attack: 'A callee sends unknown fields: an error with a stack is made of each line of two bytes.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'unknown lines',
  },
  {
    attack: 'A callee puts unknown fields within an event that is not yet complete.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'unknown lines within an event',
  },
  {
    attack: 'A callee sends `retry` lines without a number, each of which is an error.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'retry lines',
  },
  {
    attack: 'A callee sends frames that have an `event` and no data.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'frames without data',
  },
  {
    attack: 'A callee spreads one event over lines that add a line break each.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'an event of tiny lines',
  },
  {
    attack: 'A callee sends each byte of its lines in an HTTP chunk of its own.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'lines in chunks of one byte',
  },
  {
    attack: 'A callee sends comments in chunks of one byte: each of them is a sign of life that the client handles.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'comments in chunks of one byte',
  },
  {
    attack: 'A callee sends events of a kind that no client knows, which count in no limit of bytes.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'events of no known kind without end',
  },
  {
    attack: 'A callee sends comments for ever: the stream has no event whose bytes would count.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'comments without end',
  },
  {
    attack: 'A callee sends one event with a member for every ten bytes: JSON.parse of it cannot be interrupted.',
    file: 'test/hardening/hostile-streams.test.ts',
    test: 'a value with too many members',
  },
  {
    attack: 'A caller sends a body of small size with a million elements, in the middle of free data.',
    file: 'packages/parley/src/bindings/http/json-body.test.ts',
    test: 'are 100,000 at most by default, and the error names the limit',
  },
  {
    attack: 'A caller sends the elements in a `ListValue` over gRPC, where no text of JSON can be counted.',
    file: 'test/matrix/every-binding/input-limits.ts',
    test: 'requests within and beyond ',
  },
  {
    attack: 'A caller stores data so deep that another binding cannot carry it, and breaks the lists of all others.',
    file: 'test/matrix/every-binding/input-limits.ts',
    test: 'data and metadata of one level more',
  },
  {
    attack: 'A caller sets the text and the bytes of one part in turn over gRPC: each removes the member of the other.',
    file: 'test/vectors/protobuf-malformed.test.ts',
    test: 'are refused quickly, however large they are',
  },
  {
    attack: 'The numbers of a stream jump at each event, so that a client which trusts them connects without end.',
    file: 'test/client/lost-frames.test.ts',
    test: 'end no stream, and cost a bounded number of connections',
  },
  {
    attack: 'An MCP server sends unknown lines to the SDK, whose parser makes an error of each.',
    file: 'packages/mcp/src/limited-fetch.test.ts',
    test: 'an event stream of an MCP server loses unknown lines and comments',
  },
  {
    attack: 'an upload in chunks of one byte, so that each byte is a write to the disk',
    file: 'test/files/attacks.test.ts',
    test: 'a file in chunks of one byte costs as much as a message in such chunks',
  },
  {
    attack: 'an upload in gzip that is a bomb: 200 KiB become 200 MiB',
    file: 'test/files/encoded-uploads.test.ts',
    test: 'costs no memory beyond the limit, if it is a bomb',
  },
  {
    attack: 'an upload of empty gzip members, which are read without end and store nothing',
    file: 'test/files/encoded-uploads.test.ts',
    test: 'has the limit of a file before and after it is decoded',
  },
];
