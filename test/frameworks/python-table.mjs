// Cells of the peers in Python.

const ADK_CANCEL = {
  fault: 'framework',
  shows: { task: 'working' },
  why: 'ADK has no way to cancel a remote task: a run that is given up leaves the task running.',
};
const adkFailure = (why) => ({ fault: 'framework', shows: { failed: 'only as an answer' }, why });
const ADK_FAILURE = adkFailure('ADK gives the text of a failed task as the answer of the agent, without an error.');
const ADK_TOOL_FAILURE = adkFailure('AgentTool gives the text of a failed task to the model as the answer of the tool.');

export const PYTHON_TABLE = {
  'google-adk': {
    session: {
      text: 'right',
      stream: 'right',
      'slow-stream': 'right',
      artifact: 'right',
      direct: 'right',
      'multi-turn': 'right',
      cancel: ADK_CANCEL,
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
      'multi-turn': {
        fault: 'framework',
        shows: {},
        why: 'AgentTool drops its session after each call, so a question of the agent cannot be answered.',
      },
      cancel: { none: 'AgentTool has no way to cancel the task of its agent.' },
      'file-out': {
        fault: 'framework',
        shows: { raw: 'lost', linked: 'lost' },
        why: 'AgentTool gives the text of an answer only.',
      },
      'file-in': { none: 'AgentTool sends the text of the arguments only.' },
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
};
