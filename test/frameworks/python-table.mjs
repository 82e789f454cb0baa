// Cells of the peers in Python.

const framework = (shows, why) => ({ fault: 'framework', shows, why });
const protocol = (shows, why) => ({ fault: 'protocol', shows, why });
const none = (why) => ({ none: why });

const LEFT_RUNNING = { task: 'working' };
const AS_ANSWER = { failed: 'only as an answer' };
const NO_FILES = { raw: 'lost', linked: 'lost' };
const REPEATED = 'chunks, then the whole';
const SPACED = 'chunks joined by " ", then the whole';

const ADK_FAILURE = framework(
  AS_ANSWER,
  'ADK gives the text of a failed task as the answer of the agent, without an error.',
);
const ADK_TOOL_FAILURE = framework(
  AS_ANSWER,
  'AgentTool gives the text of a failed task to the model as the answer of the tool.',
);
const ADK_TOOL_QUESTION =
  "Error: agent 'remote' stopped waiting on unresolved long-running tool call(s) (pending call ids: ['ID']), which AgentTool cannot resume.";
const CREWAI_SPACED = framework(
  { text: SPACED },
  'The streaming handler collects every update and joins all by spaces, also the one that replaces the others.',
);
const CREWAI_TEXTS = framework(NO_FILES, 'The result of a delegation is a text.');
const CREWAI_HISTORY = framework(
  { text: 'within "Which day? …"' },
  'CrewAI adds the earlier messages of the agent to its answer.',
);
const CREWAI_CANCEL = framework(LEFT_RUNNING, 'A delegation that is given up leaves the task running.');
const CREWAI_FILES = framework(
  { text: 'notes.bin application/octet-stream 18 25930f83727017ff56f3936c1893c6cd03c5085a0161a4fe89952993ebd004d0' },
  'CrewAI guesses the media type of a file from its bytes.',
);
const AF_NAMES = framework({ raw: 'name lost', linked: 'name lost' }, 'Its contents have no name of a file.');
const AF_NO_NAME = framework(
  { text: 'undefined application/x-notes 18 25930f83727017ff56f3936c1893c6cd03c5085a0161a4fe89952993ebd004d0' },
  'Its contents have no name of a file.',
);
const AF_CANCEL = none('A2AAgent has no way to cancel a task.');
const AF_SILENT = framework({ failed: 'not shown' }, 'A failed task without artifacts gives an empty answer.');
const AF_AS_ANSWER = framework(AS_ANSWER, 'The text of a failed task is an update like any other.');
const BEEAI_FAILURE = framework(AS_ANSWER, 'BeeAI gives the text of a failed task as the answer of the agent.');
const LANGCHAIN_REPEATED = framework(
  { text: REPEATED },
  'The events of `astream` do not say that an update replaces the earlier ones.',
);
const SDK_REPEATED = protocol(
  { streamed: REPEATED },
  'An update may replace earlier ones, so a program that prints the text of each update has to look at `append`.',
);

export const PYTHON_TABLE = {
  'google-adk': {
    session: {
      text: 'right',
      stream: 'right',
      'slow-stream': 'right',
      artifact: 'right',
      direct: 'right',
      'multi-turn': 'right',
      cancel: framework(
        LEFT_RUNNING,
        'ADK has no way to cancel a remote task, and a run that is given up leaves it running.',
      ),
      'file-out': 'right',
      'file-in': 'right',
      failure: ADK_FAILURE,
      reason: ADK_FAILURE,
    },
    'agent-tool': {
      text: 'right',
      stream: 'right',
      'slow-stream': 'right',
      artifact: 'right',
      direct: 'right',
      'multi-turn': framework(
        { question: ADK_TOOL_QUESTION, text: ADK_TOOL_QUESTION },
        'AgentTool drops its session after each call, so a question of the agent cannot be answered.',
      ),
      cancel: none('AgentTool has no way to cancel the task of its agent.'),
      'file-out': framework(NO_FILES, 'AgentTool gives the text of an answer only.'),
      'file-in': none('AgentTool sends the text of its arguments only.'),
      failure: ADK_TOOL_FAILURE,
      reason: ADK_TOOL_FAILURE,
    },
    serve: {
      text: 'right',
      stream: 'right',
      'multi-turn': 'right',
      cancel: 'right',
      'file-out': 'right',
      'file-in': 'right',
      failure: 'right',
    },
  },
  fasta2a: {
    serve: {
      text: 'right',
      stream: 'right',
      'multi-turn': 'right',
      cancel: framework(
        { state: 'completed' },
        'The worker takes one operation at a time, so a cancel waits until the task has ended.',
      ),
      'file-out': 'right',
      'file-in': 'right',
      failure: 'right',
    },
  },
  strands: {
    agent: {
      text: 'right',
      stream: 'right',
      'slow-stream': 'right',
      artifact: 'right',
      direct: 'right',
      'multi-turn': framework(
        { text: 'Which day?' },
        'A2AAgent sends neither task nor context, so each message begins a new task.',
      ),
      cancel: framework(
        LEFT_RUNNING,
        'A2AAgent has no way to cancel, and a stream that is given up leaves the task running.',
      ),
      'file-out': framework(NO_FILES, 'A result has the texts of the answer only.'),
      'file-in': framework({ text: 'no file' }, 'A2AAgent sends the texts of its input only.'),
      failure: 'right',
      reason: 'right',
    },
    serve: {
      text: 'right',
      stream: 'right',
      'multi-turn': framework(
        { error: 'Task is awaiting an interrupt response and cannot accept a new message' },
        'A question is answered only by a data part with the id of its interrupt.',
      ),
      cancel: 'right',
      'file-out': none('The executor gives texts only.'),
      'file-in': framework(
        { text: 'notes txt 18' },
        'The model gets a document without the extension and the type of the file.',
      ),
      failure: 'right',
    },
  },
  crewai: {
    streaming: {
      text: 'right',
      stream: CREWAI_SPACED,
      'slow-stream': CREWAI_SPACED,
      artifact: 'right',
      direct: 'right',
      'multi-turn': 'right',
      cancel: CREWAI_CANCEL,
      'file-out': CREWAI_TEXTS,
      'file-in': CREWAI_FILES,
      failure: 'right',
      reason: 'right',
    },
    polling: {
      text: 'right',
      stream: 'right',
      'slow-stream': 'right',
      artifact: 'right',
      direct: 'right',
      'multi-turn': CREWAI_HISTORY,
      cancel: CREWAI_CANCEL,
      'file-out': CREWAI_TEXTS,
      'file-in': CREWAI_FILES,
      failure: 'right',
      reason: 'right',
    },
  },
  'agent-framework': {
    run: {
      text: 'right',
      stream: 'right',
      'slow-stream': 'right',
      artifact: 'right',
      direct: 'right',
      'multi-turn': 'right',
      cancel: AF_CANCEL,
      'file-out': AF_NAMES,
      'file-in': AF_NO_NAME,
      failure: AF_SILENT,
      reason: AF_SILENT,
    },
    stream: {
      text: 'right',
      stream: 'right',
      'slow-stream': 'right',
      artifact: 'right',
      direct: 'right',
      'multi-turn': 'right',
      cancel: AF_CANCEL,
      'file-out': AF_NAMES,
      'file-in': AF_NO_NAME,
      failure: AF_AS_ANSWER,
      reason: AF_AS_ANSWER,
    },
    serve: {
      text: 'right',
      stream: 'right',
      'multi-turn': none('A2AExecutor completes its task after every run.'),
      cancel: 'right',
      'file-out': framework({ raw: 'name lost' }, 'Its contents have no name of a file.'),
      'file-in': none('A2AExecutor passes the text of a message only.'),
      failure: 'right',
    },
  },
  beeai: {
    agent: {
      text: 'right',
      stream: 'right',
      'slow-stream': 'right',
      artifact: 'right',
      direct: 'right',
      'multi-turn': 'right',
      cancel: framework(LEFT_RUNNING, 'A run that is given up leaves the task running.'),
      'file-out': framework(
        { raw: 'lost' },
        'The answer is the last artifact; the earlier ones stand in the memory only.',
      ),
      'file-in': 'right',
      failure: BEEAI_FAILURE,
      reason: BEEAI_FAILURE,
    },
    serve: {
      text: 'right',
      stream: 'right',
      'multi-turn': none('A runnable answers with a message and has no task.'),
      cancel: none('A runnable answers with a message and has no task.'),
      'file-out': none('A runnable answers with the text of its last message.'),
      'file-in': 'right',
      failure: framework(AS_ANSWER, 'The server gives the text of an error as the answer.'),
    },
  },
  langchain: {
    invoke: {
      text: 'right',
      stream: 'right',
      'slow-stream': 'right',
      artifact: 'right',
      direct: 'right',
      'multi-turn': 'right',
      cancel: none('`ainvoke` gives the id of a task only after the turn has ended.'),
      'file-out': 'right',
      'file-in': 'right',
      failure: 'right',
      reason: 'right',
    },
    stream: {
      text: 'right',
      stream: LANGCHAIN_REPEATED,
      'slow-stream': LANGCHAIN_REPEATED,
      artifact: 'right',
      direct: framework({ text: 'nothing' }, '`astream` gives only updates and drops a direct answer.'),
      'multi-turn': 'right',
      cancel: 'right',
      'file-out': framework(NO_FILES, 'The events of `astream` have no files.'),
      'file-in': none('`astream` takes no files.'),
      failure: 'right',
      reason: 'right',
    },
  },
  'a2a-sdk': {
    send: {
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
    },
    stream: {
      text: 'right',
      stream: SDK_REPEATED,
      'slow-stream': SDK_REPEATED,
      artifact: 'right',
      direct: 'right',
      'multi-turn': 'right',
      cancel: 'right',
      'file-out': 'right',
      'file-in': 'right',
      failure: 'right',
      reason: 'right',
    },
  },
  'a2a-sdk-0.3': {
    send: {
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
    },
    stream: {
      text: 'right',
      stream: SDK_REPEATED,
      'slow-stream': SDK_REPEATED,
      artifact: 'right',
      direct: 'right',
      'multi-turn': 'right',
      cancel: 'right',
      'file-out': 'right',
      'file-in': 'right',
      failure: 'right',
      reason: 'right',
    },
  },
};
