// An agent with signed answers. Usage: killed-server.mjs DATABASE_URL SIGNING_OPTIONS_FILE PORT [stuck]
import { readFileSync } from 'node:fs';
import { agentCalls } from 'parley-a2a/agent-calls';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { grpcTransport } from 'parley-a2a-grpc';
import { messageSigning, signedCalls, verifiedSigners } from 'parley-a2a-signing';
import { BACKENDS } from '../support/backends.ts';

const [, , database, file, port, stuck] = process.argv;
/** `called`: the agent that answers "call", and the options of its signed calls. */
const { called, ...options } = JSON.parse(readFileSync(file, 'utf8'));

/** Appends a chunk for each word, and never gets past the third one in a process that is stuck. */
const agent = {
  resumable: true,
  async execute(context, events) {
    const words = context.text.split(' ');
    if (words[0] === 'wait') return new Promise(() => {});
    if (words[0] === 'call') {
      const { task } = await context.callAgent(called.target, 'go');
      return events.complete(task.artifacts[0].parts);
    }
    if (words[0] === 'login' && context.attempt === 1)
      await context.requestAuthorization({ message: 'secretly log in' });
    const done = Number(context.checkpoint ?? 0);
    if (done === 0) await events.artifact(`by ${verifiedSigners(context)[0]?.id}:`, { artifactId: 'words' });
    for (const [at, word] of words.entries()) {
      if (at < done) continue;
      await events.append('words', word, { metadata: { last: at } });
      await events.flush();
      await context.saveCheckpoint(at + 1);
      if (at === 2 && stuck !== undefined) await new Promise(() => {});
    }
    await events.complete(`wrote ${words.length} words for ${verifiedSigners(context)[0]?.id}`);
  },
};
const signing = await messageSigning(options);
const calls = agentCalls({
  allow: ['127.0.0.1'],
  bindings: [grpcTransport({ plaintext: true })],
  interceptors: async () => [await signedCalls(called.signing)],
});
const limits = { leaseMs: 3_000, leaseRenewalMs: 1_000, fenceMarginMs: 500, lookMs: 500 };
const storage = await openStorage(database, { backends: BACKENDS });
const server = createA2AServer({ agent, signing, calls, limits, storage });
const { url } = await server.listen(Number(port));
process.stdout.write(`${url}\n`);
