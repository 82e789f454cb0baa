// The agents of a replica. The first word of a message selects the behaviour. Each event of an agent begins with the id
// of its run and a number, such as `[2.7 0]`. So the log of a task tells which run wrote which event.

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One run of an agent, recorded in the journal. */
class Run {
  #id;
  #journal;
  #context;
  #events;
  #count = 0;

  constructor({ id, journal, context, events }) {
    this.#id = id;
    this.#journal = journal;
    this.#context = context;
    this.#events = events;
  }

  static async begin(parts) {
    const run = new Run(parts);
    await run.#begin(parts.agent);
    return run;
  }

  get aborted() {
    return this.#context.signal.aborted;
  }

  async #begin(agent) {
    const { signal, taskId, message, attempt } = this.#context;
    this.#note('started', { agent, taskId, messageId: message.messageId, attempt });
    signal.addEventListener('abort', () => this.#note('aborted', { reason: String(signal.reason?.message) }));
    const previous = await this.#context.previousEvents().catch(() => undefined);
    if (previous !== undefined) this.#note('saw', { seq: previous.at(-1)?.seq ?? 0 });
  }

  /** The text of the next event. */
  text(content) {
    const text = `[${this.#id} ${this.#count}] ${content}`;
    this.#count += 1;
    return text;
  }

  /** Waits until everything published so far is stored. */
  async flush() {
    const count = this.#count;
    await this.#events.flush();
    this.#note('flushed', { count });
  }

  end(how) {
    this.#note('ended', { how, count: this.#count });
  }

  #note(note, more) {
    this.#journal.write({ note, run: this.#id, ...more });
  }
}

/** Runs of an executor are numbered within the process. */
export function agentsOf({ journal, process: name }) {
  let runs = 0;
  const executor = (agent, options, behave) => ({
    ...options,
    async execute(context, events) {
      runs += 1;
      const run = await Run.begin({ id: `${name}.${runs}`, agent, journal, context, events });
      try {
        await behave(run, context, events);
        run.end('returned');
      } catch (error) {
        run.end(`threw ${error?.message}`);
        throw error;
      }
    },
  });
  return {
    '/steady': { agent: executor('/steady', { resumable: true }, work) },
    '/fragile': { agent: executor('/fragile', {}, work) },
    '/either': { agent: executor('/either', { replies: 'either', resumable: true }, answerOrWork) },
  };
}

async function answerOrWork(run, context, events) {
  const [kind, ms = '0'] = context.text.split(' ');
  if (kind !== 'reply') return work(run, context, events);
  await pause(Number(ms));
  return events.message(run.text('a direct reply'));
}

async function work(run, context, events) {
  const [kind = 'quick', count = '1', ms = '0'] = context.text.split(' ');
  if (kind === 'quick') return events.complete(run.text('done'));
  if (kind === 'ask') {
    await pause(Number(ms));
    return events.inputRequired(run.text('and then?'));
  }
  if (kind === 'answer') return events.complete(run.text(`answered ${context.message.messageId}`));
  if (kind === 'idle') return idle(context);
  await events.working(run.text('begun'));
  // Each attempt has an artifact of its own: chunks of an earlier attempt stay as they are.
  const artifactId = await events.artifact(run.text('chunk'), { artifactId: `log of attempt ${context.attempt}` });
  for (let chunk = 1; chunk < Number(count); chunk += 1) {
    await pause(Number(ms));
    // A careless agent ignores the signal, so that the engine must refuse its events.
    if (kind === 'careful' && run.aborted) return;
    await events.append(artifactId, run.text(`chunk ${'x'.repeat((chunk * 37) % 200)}`));
    if (chunk % 4 === 0) await run.flush();
  }
  await events.complete(run.text('all chunks'));
}

/** Works without events until it is aborted. */
async function idle({ signal }) {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}
