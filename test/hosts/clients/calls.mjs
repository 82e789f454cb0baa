import { connect } from 'parley-a2a/client';

/**
 * The calls of a client on every runtime, with options as JSON: calls, broken streams, errors, time limits, unreachable
 * addresses.
 */
export async function calls({ base, card, nowhere, luck }) {
  const told = {};
  const retries = { attempts: 20, firstMs: 1, longestMs: 5 };
  for (const binding of ['JSONRPC', 'HTTP+JSON']) {
    const client = await connect(card, { binding, retry: retries, resume: retries, headers: { 'x-luck': `${luck}` } });
    const events = [];
    const stream = client.sendStreamingMessage('say 4');
    for await (const event of stream) events.push(event);
    const calm = await connect(card, { binding });
    const answer = await calm.ask('say 7');
    told[binding] = {
      taskId: stream.taskId,
      breaks: stream.breaks,
      events,
      state: answer.task.status.state,
      missing: await nameOf(calm.getTask('nothing')),
      late: await nameOf(calm.sendMessage('wait', { timeoutMs: 50 })),
      left: await nameOf(calm.sendMessage('wait', { signal: AbortSignal.abort(new RangeError('left')) })),
    };
  }
  const [there] = card.supportedInterfaces;
  const gone = await connect(
    { ...card, supportedInterfaces: [{ ...there, url: nowhere }] },
    { retry: { attempts: 1, firstMs: 1 } },
  );
  told.nowhere = await gone.getTask('t').catch(({ name, code, sent }) => ({ name, code, sent }));
  told.found = (await connect(base)).card.name;
  return told;
}

async function nameOf(call) {
  return call.then(
    () => 'nothing was thrown',
    ({ name }) => name,
  );
}
