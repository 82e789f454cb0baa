// Cases that every way of a peer plays, and the reading of their results. A reading names each thing that is wrong, and
// is empty if all is right.
import {
  ARTIFACT,
  CHUNKS,
  DIRECT,
  described,
  LINKED,
  NOTES,
  QUESTION,
  REASON,
  REPORT,
  SERVED_FILE,
  SLOW_CHUNKS,
  WHOLE,
} from './texts.mjs';

const PROMPT = 'A table for two';
const REPLY = 'Friday';
/** The text of a task whose agent threw. */
const FAILED_TEXT = 'The agent failed to process the message.';

/** Cases of a framework that calls our agents. `request` is added to the case, the way and the url. */
export const CALLING_CASES = {
  text: { path: '/whole', read: (result) => readTexts(result, [WHOLE]) },
  stream: { path: '/stream', read: (result) => readTexts(result, CHUNKS) },
  'slow-stream': { path: '/slow-stream', read: (result) => readTexts(result, SLOW_CHUNKS) },
  artifact: { path: '/artifact', read: (result) => readTexts(result, [ARTIFACT]) },
  direct: { path: '/either', read: (result) => readTexts(result, [DIRECT]) },
  'multi-turn': {
    path: '/questions',
    request: { reply: REPLY },
    read: (result) => ({
      ...(result.question !== undefined && readText('question', result.question, [QUESTION])),
      ...readText('text', result.text, [`You said: ${PROMPT} / ${REPLY}`]),
    }),
  },
  cancel: {
    path: '/slow',
    read: (result) => ({
      ...(result.agentState !== 'canceled' && { task: result.agentState }),
      ...(result.state !== undefined && plainState(result.state) !== 'canceled' && { state: plainState(result.state) }),
    }),
  },
  'file-out': {
    path: '/file-out',
    read: ({ files }) => ({ ...readFile('raw', files, REPORT), ...readFile('linked', files, LINKED) }),
  },
  'file-in': {
    path: '/file-in',
    request: { file: NOTES },
    read: (result) => readText('text', result.text, [described(NOTES)]),
  },
  failure: { path: '/fails', read: (result) => readFailure(result, '') },
  reason: { path: '/fails-with-reason', read: (result) => readFailure(result, REASON) },
};

/** Cases of our client that calls an agent of the framework. The prompt says what the agent does. */
export const SERVED_CASES = {
  text: { prompt: 'text', read: (result) => readTexts(result, ['Served: text']) },
  stream: { prompt: 'stream', read: (result) => readTexts(result, ['Served: ', 'one ', 'two ', 'three']) },
  'multi-turn': {
    prompt: 'question',
    request: { reply: REPLY },
    read: (result) => ({
      ...readText('question', result.question, [QUESTION]),
      ...readText('text', result.text, [`Served: ${REPLY}`]),
    }),
  },
  cancel: {
    prompt: 'wait',
    read: ({ state }) => (plainState(state) === 'canceled' ? {} : { state: plainState(state) }),
  },
  'file-out': { prompt: 'file', read: ({ files }) => readFile('raw', files, SERVED_FILE) },
  'file-in': {
    prompt: 'read',
    request: { file: NOTES },
    read: ({ text }) =>
      readText('text', text, [`${NOTES.name} ${NOTES.mediaType} ${Buffer.from(NOTES.bytes, 'base64').length}`]),
  },
  failure: {
    prompt: 'fail',
    read: ({ failed, text = '' }) => (failed ? {} : { failed: text === '' ? 'not shown' : 'only as an answer' }),
  },
};

/** The way of a peer whose agents our client calls. */
export const SERVE = 'serve';

export function casesOf(way) {
  return way === SERVE ? SERVED_CASES : CALLING_CASES;
}

/** The request to a driver for a case of our agents. */
export function requestOf(name, base) {
  const { path, request = {} } = CALLING_CASES[name];
  return { case: name, url: `${base}${path}`, prompt: PROMPT, ...request };
}

function readTexts(result, chunks) {
  const streamed = result.streamed === undefined ? {} : readText('streamed', result.streamed, chunks);
  return { ...readText('text', result.text, chunks), ...streamed };
}

/** Describes the difference of a text from the joined chunks of the agent. */
function readText(member, text, chunks) {
  const whole = chunks.join('');
  if (text === whole) return {};
  return { [member]: differenceOf(text ?? '', chunks, whole) };
}

function differenceOf(text, chunks, whole) {
  if (text === '') return 'nothing';
  if (text.replaceAll(whole, '') === '' || text.split(whole).length > 2) return `${text.split(whole).length - 1} times`;
  if (chunks.length > 1) {
    if (text === chunks.at(-1)) return 'last chunk';
    if (text === chunks[0]) return 'first chunk';
    for (const between of ['\n', '\n\n', ' ']) {
      if (text === chunks.join(between)) return `joined by ${JSON.stringify(between)}`;
    }
    const before = chunksBefore(text, chunks, whole);
    if (before !== undefined) return before;
    if (text === whole + chunks.at(-1)) return 'last chunk twice';
  }
  if (text.trim() === whole.trim()) return 'other blanks at its ends';
  if (text.includes(whole)) return `within ${JSON.stringify(shortened(text.replace(whole, '…')))}`;
  return shortened(text);
}

/** Finds chunks before the whole text, which show that a replacing update was appended instead. */
function chunksBefore(text, chunks, whole) {
  for (const between of ['', ' ', '\n']) {
    for (let count = 1; count <= chunks.length; count++) {
      if (text !== [...chunks.slice(0, count), whole].join(between)) continue;
      return between === '' ? 'chunks, then the whole' : `chunks joined by ${JSON.stringify(between)}, then the whole`;
    }
  }
  return undefined;
}

function readFile(member, files, wanted) {
  const kind = wanted.url === undefined ? 'bytes' : 'url';
  const found = (files ?? []).find((file) => file[kind] === wanted[kind]);
  if (found === undefined) return { [member]: 'lost' };
  const wrong = ['name', 'mediaType'].filter((key) => found[key] !== wanted[key]);
  return wrong.length === 0 ? {} : { [member]: wrong.map((key) => `${key} ${found[key] ?? 'lost'}`).join(', ') };
}

/** A failure is shown as one, with its reason. Some frameworks show its text as if it were an answer. */
function readFailure({ failed, text = '' }, reason) {
  if (!failed) return { failed: text.includes(reason || FAILED_TEXT) ? 'only as an answer' : 'not shown' };
  if (failed === true) return reason === '' ? {} : { failed: 'without its reason' };
  return String(failed).includes(reason) ? {} : { failed: shortened(String(failed)) };
}

/** `TASK_STATE_CANCELED`, `TaskState.canceled` and `canceled` are one state. */
function plainState(state) {
  return String(state)
    .replace(/^TaskState\./, '')
    .replace(/^TASK_STATE_/i, '')
    .toLowerCase();
}

/** Long and changing texts, such as ids and ports, cannot stand in a table. */
export function shortened(text) {
  const plain = text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/127\.0\.0\.1:\d+/g, 'HOST');
  return plain.length > 160 ? `${plain.slice(0, 160)}…` : plain;
}
