import { newWebSocketRpcSession } from 'capnweb';
import { bearerToken } from 'parley-a2a/credentials';
import { connectCapnweb } from 'parley-a2a-capnweb';

const FILE_BYTES = 3_000_000;

/**
 * The objects of an agent on every runtime, with options as JSON. Watches and feeds go through connections that are
 * reset. Files are streams in both directions. The stock client has callbacks.
 */
export async function calls({ card, token, direct }) {
  using agent = await connectCapnweb(card, { credentials: bearerToken(token) });
  const followed = await followedBySeveral(agent);
  const files = await streamedFiles(agent);
  using session = newWebSocketRpcSession(direct);
  return {
    ...followed,
    files,
    stock: await stockCallbacks(session, token),
    plain: await plainCallbacks(session, token),
  };
}

/** Several readers of one task: some follow it to the end, and the end of the others does not affect them. */
async function followedBySeveral(agent) {
  const { answer } = agent.send({ message: said('count 300'), configuration: { returnImmediately: true } });
  const task = agent.task((await answer).task.id);
  const all = { after: 0 };
  const seen = { quick: [], slow: [], feed: [], left: [] };
  const quick = task.watch((events) => void seen.quick.push(...numbers(events)), all);
  const slow = task.watch(async (events) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    seen.slow.push(...numbers(events));
  }, all);
  const failing = task.watch(() => {
    throw new RangeError('too much');
  }, all);
  const left = task.watch((events) => {
    seen.left.push(...numbers(events));
    left.close();
  }, all);
  for await (const event of task.subscribe(all)) seen.feed.push(event.seq);
  await Promise.all([quick.ended, slow.ended, left.ended]);
  const beforeTheEnd = seen.left.length;
  // From the middle of a task that has ended.
  const rest = [];
  await task.watch((events) => void rest.push(...numbers(events)), { after: 290 }).ended;
  return {
    quick: seen.quick,
    slow: seen.slow,
    feed: seen.feed,
    failing: await messageOf(failing.ended),
    isLeft: beforeTheEnd < seen.quick.length && seen.left.length === beforeTheEnd,
    rest,
  };
}

/** A file goes to the agent as a stream and comes back as one. Another one is left in its middle. */
async function streamedFiles(agent) {
  const bytes = new Uint8Array(FILE_BYTES).map((_, at) => at % 251);
  let given = 0;
  const raw = new ReadableStream(
    {
      pull: (controller) => {
        if (given >= FILE_BYTES) return controller.close();
        controller.enqueue(bytes.slice(given, given + 50_000));
        given += 50_000;
      },
    },
    { highWaterMark: 0 },
  );
  const { task, answer } = agent.send({ message: { ...said('file'), parts: [{ raw, filename: 'large' }] } });
  await answer;
  const [left] = await task.files();
  const reader = left.content.getReader();
  const isBegun = !(await reader.read()).done;
  await reader.cancel();
  const [large] = await task.files();
  let length = 0;
  let isSame = true;
  for await (const chunk of large.content) {
    isSame &&= chunk.every((byte, at) => byte === bytes[length + at]);
    length += chunk.length;
  }
  return { name: large.filename, isBegun, length, isSame };
}

/** A function of a client without code of Parley. */
async function stockCallbacks(session, token) {
  const credential = { scheme: 'bearer', value: token };
  using agent = await session.authenticate({ parameters: { 'A2A-Version': '1.0' }, credential });
  const configuration = { returnImmediately: true };
  const { task } = await agent.sendMessage({ message: { ...said('count 20'), messageId: 'stock' }, configuration });
  using object = await agent.task(task.id);
  const failed = Promise.withResolvers();
  const over = Promise.withResolvers();
  const seqs = [];
  await object.watch(
    () => {
      failed.resolve();
      throw new RangeError('too much');
    },
    { after: 0 },
  );
  await object.watch(
    (items) => {
      seqs.push(...numbers(items));
      if (items.some(({ event }) => isCompleted(event.statusUpdate))) over.resolve();
    },
    { after: 0 },
  );
  await Promise.all([failed.promise, over.promise]);
  return seqs;
}

/** The methods with plain arguments, with two callbacks for one task. */
async function plainCallbacks(session, token) {
  using service = await session.authenticate({ type: 'bearer', token });
  const message = { kind: 'message', messageId: 'plain', role: 'user', parts: [{ kind: 'text', text: 'count 20' }] };
  const callback = () => {
    const over = Promise.withResolvers();
    const types = [];
    const take = (event) => {
      types.push(event.type);
      if (event.final) over.resolve(types);
    };
    return { take, types: over.promise };
  };
  const [first, second] = [callback(), callback()];
  using task = await service.sendMessageStreaming(message, {}, first.take);
  await task.subscribe({ onStatusUpdate: second.take, onArtifactUpdate: second.take });
  const types = await first.types;
  return {
    artifacts: types.filter((type) => type === 'artifact').length,
    others: (await second.types).at(-1),
    isFinal: await task.isFinalState(),
  };
}

const said = (text) => ({ role: 'ROLE_USER', parts: [{ text }] });
const numbers = (events) => events.map(({ seq }) => seq);
const isCompleted = (update) => update?.status.state === 'TASK_STATE_COMPLETED';

async function messageOf(call) {
  return call.then(
    () => 'nothing was thrown',
    ({ message }) => message,
  );
}
