// The agents that every host serves, made of what every JavaScript runtime has.
import { ApiKeys, anyOf, BearerTokens } from 'parley-a2a/auth';
import { createAgentHandler, toFetch } from 'parley-a2a/server';

/** The names of the agents; each is served under `/agents/<name>`. */
export const NAMES = ['open', 'guarded'];

/** The options of the agents by name, and what they share. */
export function agentOptions() {
  const gates = new Map();
  const streams = { open: 0 };
  return {
    streams,
    options: {
      open: {
        name: 'Open',
        agent: { replies: 'either', execute: (context, events) => run({ context, events, gates, streams }) },
        // Small, so that every host reads the rest of a body over the limit, and a client gets the answer.
        limits: { bodyBytes: 32_768 },
        streamHeartbeatMs: 300,
      },
      guarded: {
        name: 'Guarded',
        agent: (prompt) => `Guarded: ${prompt}`,
        authenticator: anyOf(
          new BearerTokens([{ token: 'secret', subject: 'tester' }]),
          new ApiKeys([{ key: 'secret-key', subject: 'tester' }]),
        ),
        extendedAgentCard: (card) => ({ ...card, description: 'For those who are known' }),
      },
    },
  };
}

/** The agents as handlers by name; `place` gives the options that say where. */
export function agentHandlers(place) {
  const { streams, options } = agentOptions();
  const handlers = {};
  for (const name of NAMES) {
    const handler = createAgentHandler({ ...options[name], ...place(name) });
    const exchange = counted(handler.exchange, streams);
    handlers[name] = { ...handler, exchange, fetch: toFetch(exchange) };
  }
  return handlers;
}

async function run({ context, events, gates, streams }) {
  const [command, ...words] = context.text.split(' ');
  switch (command) {
    case 'task':
      await events.artifact(words.join(' '));
      return events.complete();
    case 'chunks': {
      // Each chunk but the first waits until the client has confirmed the chunk before.
      const [gate, count] = words;
      const id = await events.artifact('chunk 1');
      for (let number = 2; number <= Number(count); number++) {
        await gateOf(gates, `${gate}-${number}`).opened;
        await events.append(id, `chunk ${number}`);
      }
      return events.complete();
    }
    case 'saw':
      gateOf(gates, words[0]).open();
      return events.message('noted');
    case 'wait':
      await events.working();
      return new Promise((_, reject) => {
        context.signal.addEventListener('abort', () => reject(context.signal.reason), { once: true });
      });
    case 'ask':
      return events.inputRequired('What else?');
    case 'streams':
      return events.message(String(streams.open));
    case 'connections':
      return events.message(String(streams.connections));
    default:
      return events.message(`Echo: ${context.text}`);
  }
}

function gateOf(gates, name) {
  if (!gates.has(name)) gates.set(name, Promise.withResolvers());
  const { promise, resolve } = gates.get(name);
  return { opened: promise, open: resolve };
}

/** The same exchange; its open streams are counted. */
function counted(exchange, streams) {
  return async (request) => {
    const answer = await exchange(request);
    if (typeof answer.body !== 'object' || !(Symbol.asyncIterator in answer.body)) return answer;
    return { ...answer, body: countedFrames(answer.body[Symbol.asyncIterator](), streams) };
  };
}

function countedFrames(frames, streams) {
  let open = true;
  streams.open++;
  const close = () => {
    if (open) streams.open--;
    open = false;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const result = await frames.next();
      if (result.done) close();
      return result;
    },
    return() {
      close();
      return frames.return();
    },
  };
}
