// Agents that kill their process, and agents that run beside them.
const NEVER = new Promise(() => {});

const ends = {
  'process.exit': () => process.exit(0),
  'process.abort': () => process.abort(),
  SIGKILL: () => process.kill(process.pid, 'SIGKILL'),
};

/** Dies in the middle of its work. */
const dies = (end) => ({
  async run({ attempt }, events) {
    await events.artifact(`attempt ${attempt}`, { artifactId: `a${attempt}` });
    await events.flush();
    end();
    await NEVER;
  },
});

export const deadly = {
  ...Object.fromEntries(Object.entries(ends).map(([name, end]) => [`dies by ${name}`, dies(end)])),
  'dies before its first event': { run: () => process.exit(0) },
  'throws in a timer, where the process decides': {
    async run(_context, events) {
      await events.working();
      await events.flush();
      setTimeout(() => {
        throw new Error('nobody caught this');
      }, 5);
      await NEVER;
    },
  },
};

/** Works for a while in each attempt. */
const WORK_MS = 300;

/** Hangs the first time; the second time it asks, and the answer ends it. */
export const bystanders = {
  resumes: {
    async run({ attempt, task }, events) {
      if (task?.status.state === 'TASK_STATE_INPUT_REQUIRED') return events.complete('answered');
      await events.working(`attempt ${attempt}`);
      if (attempt === 1) await NEVER;
      await events.inputRequired('and?');
    },
  },
  'goes on for ever': {
    async run({ attempt, signal }, events) {
      await events.working(`attempt ${attempt}`);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  },
  'takes its time': {
    async run({ attempt }, events) {
      await events.working(`attempt ${attempt}`);
      await new Promise((resolve) => setTimeout(resolve, WORK_MS));
      await events.complete(`done in attempt ${attempt}`);
    },
  },
};
