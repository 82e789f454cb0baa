// A graph with a checkpointer on disk. Usage: langgraph-server.mjs FOLDER [N: dies after its Nth write to the disk]
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { langGraphAgent } from 'parley-a2a-langgraph';

const [, , folder, dies = '0'] = process.argv;
const file = join(folder, 'threads.json');
let writes = 0;

/** Keeps the threads of MemorySaver in a file. */
class FileSaver extends MemorySaver {
  constructor() {
    super();
    const { storage = {}, writes = {} } = readThreads();
    this.storage = storage;
    this.writes = writes;
  }

  async put(...given) {
    const config = await super.put(...given);
    this.#save();
    return config;
  }

  async putWrites(...given) {
    await super.putWrites(...given);
    this.#save();
  }

  #save() {
    const { storage, writes: pending } = this;
    writeFileSync(`${file}.new`, JSON.stringify({ storage, writes: pending }, asBase64));
    renameSync(`${file}.new`, file);
    writes += 1;
    if (writes === Number(dies)) process.kill(process.pid, 'SIGKILL');
  }
}

function readThreads() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'), fromBase64);
  } catch {
    return {};
  }
}

function asBase64(_, value) {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;
}

function fromBase64(_, value) {
  return value?.base64 === undefined ? value : new Uint8Array(Buffer.from(value.base64, 'base64'));
}

const says = (text) => async (state) => ({
  messages: [await new FakeListChatModel({ responses: [text] }).invoke(state.messages)],
});
const graph = new StateGraph(MessagesAnnotation)
  .addNode('first', says('one'))
  .addNode('beside', says('one'))
  .addNode('ask', () => ({ messages: [{ role: 'user', content: interrupt('go on?') }] }))
  .addNode('second', (state) => says(`two, ${state.messages.length} messages`)(state))
  .addEdge(START, 'first')
  .addEdge(START, 'beside')
  .addEdge(['first', 'beside'], 'ask')
  .addEdge('ask', 'second')
  .addEdge('second', END)
  .compile({ checkpointer: new FileSaver() });

const storage = await openStorage(`sqlite:${join(folder, 'tasks.db')}`);
const server = createA2AServer({ agent: langGraphAgent({ graph, resumable: true }), name: 'Graph', storage });
const { url } = await server.listen(0);
process.stdout.write(`${url}\n`);
