// Cells of the peers in JavaScript: peer, way, case.
import { described, NOTES } from './texts.mjs';

/** Cells of a calling way in which all is right. */
const RIGHT = {
  text: 'right',
  stream: 'right',
  'slow-stream': 'right',
  artifact: 'right',
  direct: 'right',
  'multi-turn': 'right',
  cancel: 'right',
  'file-out': 'right',
  'file-in': 'right',
  failure: 'right',
  reason: 'right',
};

const framework = (shows, why) => ({ fault: 'framework', shows, why });

const ADK_CANCEL = { none: '`RemoteA2AAgent` sends no cancel request, and does not hand on the signal of a run.' };
const ADK_TURNS = framework(
  { text: 'Which day?' },
  'A plain answer of the user goes out with the context but without the task, so it begins another task.',
);

const PROVIDER_CANCEL = { none: 'The provider sends no cancel request, and does not use the signal of a call.' };
const PROVIDER_FILES = framework(
  { raw: 'name lost', linked: 'lost' },
  'Files of the AI SDK have no name, and the provider does not hand on urls.',
);

const MASTRA_CANCEL = { none: '`A2AAgent` sends no cancel request: its signal ends its own request only.' };
const MASTRA_FILE_IN = framework(
  { text: 'no file' },
  '`A2AAgent` turns a file of a message into a text that names it.',
);
const MASTRA = { ...RIGHT, cancel: MASTRA_CANCEL, 'file-in': MASTRA_FILE_IN };

const noNameWhenServed = (which) =>
  framework({ text: `undefined ${NOTES.mediaType} 18` }, `${which} gives its model no name of a file.`);

export const JAVASCRIPT_TABLE = {
  'google-adk-js': {
    session: {
      ...RIGHT,
      'multi-turn': ADK_TURNS,
      cancel: ADK_CANCEL,
      'file-out': framework({ raw: 'name lost', linked: 'name lost' }, 'ADK drops the names of files that arrive.'),
      'file-in': framework(
        { text: described({ ...NOTES, name: undefined }) },
        'ADK drops the name of a file that it sends.',
      ),
    },
    'agent-tool': {
      ...RIGHT,
      'multi-turn': ADK_TURNS,
      cancel: ADK_CANCEL,
      'file-out': framework({ raw: 'lost', linked: 'lost' }, '`AgentTool` gives the texts of the last event only.'),
      'file-in': { none: '`AgentTool` takes one text from the model.' },
      failure: framework({ failed: 'not shown' }, '`AgentTool` gives an empty text if its agent fails.'),
      reason: framework({ failed: 'not shown' }, '`AgentTool` gives an empty text if its agent fails.'),
    },
    serve: {
      text: 'right',
      stream: 'right',
      'multi-turn': framework(
        { question: 'nothing', text: 'No input provided for function call id adk-ID' },
        'ADK asks with a function call as data, and takes a function response of its own form only.',
      ),
      cancel: framework({ error: 'Task cancellation is not supported yet.' }, '`toA2a` cannot cancel.'),
      'file-out': framework({ raw: 'name lost' }, 'ADK drops the name of a file that it sends.'),
      'file-in': noNameWhenServed('ADK'),
      failure: 'right',
    },
  },
  mastra: {
    generate: MASTRA,
    stream: MASTRA,
    'generate-1.0': MASTRA,
    'stream-1.0': MASTRA,
    subagent: {
      ...MASTRA,
      'multi-turn': framework(
        { text: 'You said: user: A table for two / Friday' },
        'Mastra puts the role of the caller before the prompt that its subagent gets.',
      ),
      'file-out': framework({ raw: 'lost', linked: 'lost' }, 'The caller gets the text of its subagent only.'),
      failure: framework({ failed: 'not shown' }, 'The caller gets an empty text if its subagent fails.'),
      reason: framework({ failed: 'not shown' }, 'The caller gets an empty text if its subagent fails.'),
    },
    serve: {
      text: 'right',
      stream: 'right',
      'multi-turn': 'right',
      cancel: 'right',
      'file-out': framework({ raw: 'lost' }, 'Mastra serves the text and the object of a model, and no files.'),
      'file-in': noNameWhenServed('Mastra'),
      failure: 'right',
    },
  },
  'a2a-ai-provider': {
    generateText: {
      ...RIGHT,
      'multi-turn': framework(
        { text: 'Which day?' },
        'The provider sends the context of a chat and no task, so the answer begins another task.',
      ),
      cancel: PROVIDER_CANCEL,
      'file-out': PROVIDER_FILES,
      failure: framework(
        { failed: 'only as an answer' },
        'The provider gives the message of a failed task as the answer.',
      ),
      reason: framework(
        { failed: 'only as an answer' },
        'The provider gives the message of a failed task as the answer.',
      ),
    },
    streamText: {
      ...RIGHT,
      'multi-turn': framework(
        { question: 'nothing', text: 'nothing' },
        'The provider shows no message of a status in a stream, and sends no task with the answer.',
      ),
      cancel: PROVIDER_CANCEL,
      'file-out': PROVIDER_FILES,
      reason: framework({ failed: 'without its reason' }, 'The provider shows no message of a status in a stream.'),
    },
  },
  'a2a-js-sdk': { sendMessage: RIGHT, sendMessageStream: RIGHT },
  'a2a-js-sdk-0.3': { sendMessage: RIGHT, sendMessageStream: RIGHT },
};
