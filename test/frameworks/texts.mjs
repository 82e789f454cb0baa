// Texts and files of the agents of this suite, which the runner expects in the results of each framework.
import { createHash } from 'node:crypto';

/** A long answer with paragraphs, quotes and letters beyond ASCII. */
export const WHOLE = [
  'The harbour of Gdańsk opens at six.',
  ...Array.from({ length: 20 }, (_, at) => `Ferry ${at + 1} leaves "on time" — for ${35 + at} € a seat, 座席 ${at}.`),
  'Nothing leaves after midnight 🌙, so be early.',
].join('\n\n');

/** Chunks of an answer, with breaks inside of words and lines. */
export const CHUNKS = [
  'The tide ',
  'is hi',
  'gh at ',
  'noon.\n',
  'It fa',
  'lls ',
  'until ',
  'six, ',
  'then ',
  'ri',
  'ses ',
  'again.',
];

/** Pauses before each chunk in ms: most chunks follow fast, some do not. */
export const PAUSES = [0, 5, 10, 5, 150, 5, 20, 130, 5, 5, 20, 10];

export const SLOW_CHUNKS = ['Slow ', 'boats ', 'carry ', 'more.'];
export const ARTIFACT = 'A ticket for two, printed as one artifact.';
export const QUESTION = 'Which day?';
export const REASON = 'The oven is cold.';
export const DIRECT = 'A direct answer without a task.';

/** Name, type and bytes of the file that an agent gives as raw bytes. */
export const REPORT = file(
  'report.bin',
  'application/x-report',
  Buffer.from('report\0\xff\xfe of the harbour', 'latin1'),
);
/** Name, type and url of the file that an agent gives by its url. Nothing loads it. */
export const LINKED = {
  name: 'linked.bin',
  mediaType: 'application/x-report',
  url: 'https://files.invalid/linked.bin',
};
/** File that a framework sends. */
export const NOTES = file('notes.bin', 'application/x-notes', Buffer.from('notes\0\x80\xff of a user', 'latin1'));
/** File that a served framework gives. */
export const SERVED_FILE = file(
  'served.bin',
  'application/x-served',
  Buffer.from(Array.from({ length: 256 }, (_, at) => at)),
);

/** The text with which the agent for files describes one. */
export function described({ name, mediaType, bytes }) {
  const content = Buffer.from(bytes, 'base64');
  return `${name} ${mediaType} ${content.length} ${createHash('sha256').update(content).digest('hex')}`;
}

function file(name, mediaType, bytes) {
  return { name, mediaType, bytes: bytes.toString('base64') };
}
