import { expect, it } from 'vitest';
import { call } from '../../test/engine.js';
import { OPERATIONS, type OperationName } from '../operations/operations.js';
import type { RequestHandler } from './request-handler.js';
import { validatedHandler } from './validated-handler.js';

const NAMES = Object.keys(OPERATIONS) as OperationName[];

/** A handler that answers every operation with the same value, as a stream if the operation streams. */
function answerWith(value: unknown): RequestHandler {
  const stream = async function* () {
    yield { event: value };
  };
  const methods = NAMES.map((name) => [name, OPERATIONS[name].streaming ? stream : async () => value]);
  return Object.fromEntries(methods) as RequestHandler;
}

async function result(handler: RequestHandler, name: OperationName): Promise<unknown> {
  const outcome = (handler[name] as (...args: readonly unknown[]) => unknown)({}, call());
  if (!OPERATIONS[name].streaming) return outcome;
  for await (const item of outcome as AsyncIterable<unknown>) return item;
}

it.each(NAMES.filter((name) => OPERATIONS[name].response !== undefined))(
  'a result of %s that the protocol does not allow is InvalidAgentResponse',
  async (name) => {
    const broken = validatedHandler(answerWith('nonsense'));
    await expect(result(broken, name)).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    const unchecked = validatedHandler(answerWith('nonsense'), []);
    await expect(result(unchecked, name)).resolves.toBeDefined();
  },
);

it('the only operation without a result is deleting', () => {
  expect(NAMES.filter((name) => OPERATIONS[name].response === undefined)).toEqual(['deleteTaskPushNotificationConfig']);
});
