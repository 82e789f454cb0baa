import { describe, expect, it } from 'vitest';
import { BoundAgent, HELLO } from '../../../test/bound-agent.js';
import { EVENTS, streamOf } from '../../../test/recording-handler.js';
import { v1_0 } from '../../codec/v1_0/wire-codec.js';
import { A2AError } from '../../errors/a2a-error.js';
import { UnauthenticatedError } from '../../errors/standard-errors.js';
import type { OperationName } from '../../operations/operations.js';
import { KeyedPlaces } from '../../runtime/keyed-places.js';
import { type BindingContext, DEFAULT_REQUEST_LIMITS } from '../http/binding-context.js';
import { callDirectly, directBinding, refusedDirectly } from './direct-binding.js';
import { DirectRequest } from './direct-request.js';

function setUp(endpoint: Partial<BindingContext> = {}) {
  const agent = new BoundAgent();
  const context: BindingContext = {
    handler: agent.handler,
    card: agent.card,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    clock: agent.clock,
    limits: DEFAULT_REQUEST_LIMITS,
    heartbeatMs: 15_000,
    versionWhenAbsent: '0.3',
    agent: 'bound',
    ...endpoint,
  };
  const exchange = directBinding(context, 'TEST');
  const request = (operation: OperationName, value: unknown, version = '1.0') =>
    new DirectRequest({
      path: '/bound',
      header: () => undefined,
      signal: new AbortController().signal,
      call: { operation, value, decoder: { ...v1_0, version } },
    });
  return { agent, exchange, request };
}

describe('the direct binding of an agent', () => {
  it('admits a request without a call, and calls nothing', async () => {
    const { exchange, agent } = setUp();
    const request = new DirectRequest({ path: '/', header: () => undefined, signal: new AbortController().signal });
    const { answer } = await callDirectly(exchange, request);
    expect(answer).toEqual({ kind: 'response', response: undefined });
    expect(agent.handler.calls).toEqual([]);
  });

  it('answers with the object of the handler, and records the call', async () => {
    const { exchange, request } = setUp();
    const { direct, call } = await exchange(request('getTask', { id: 't1' }));
    expect(direct).toMatchObject({ kind: 'response', response: { id: expect.any(String) } });
    expect(call).toMatchObject({
      binding: 'TEST',
      operation: 'getTask',
      version: '1.0',
      code: 'OK',
      agent: 'bound',
      taskId: 't1',
    });
  });

  it('refuses invalid requests with the fields at fault, and faults without their text', async () => {
    const { exchange, request, agent } = setUp();
    const { answer } = await callDirectly(exchange, request('getTask', { id: '' }));
    expect(answer).toMatchObject({ kind: 'error', error: { code: 'INVALID_PARAMS' } });
    agent.handler.behaviours.getTask = () => {
      throw new Error('ENOENT /var/lib/secret');
    };
    const failed = await callDirectly(exchange, request('getTask', { id: 't1' }));
    expect(failed.answer).toMatchObject({
      kind: 'error',
      error: { code: 'INTERNAL_ERROR', message: 'Internal error' },
    });
  });

  it('speaks only the versions that the card declares for the binding, if it declares any', async () => {
    const answerIn = async ({ exchange, request }: ReturnType<typeof setUp>, version: string) =>
      (await callDirectly(exchange, request('getTask', { id: 't1' }, version))).answer;
    const open = setUp();
    expect(await answerIn(open, '0.3')).toMatchObject({ kind: 'response' });
    const declared = { url: 'host:1', protocolBinding: 'TEST', protocolVersion: '1.0' };
    const { card } = open.agent;
    const declaring = setUp({ card: { ...card, supportedInterfaces: [...card.supportedInterfaces, declared] } });
    expect(await answerIn(declaring, '0.3')).toMatchObject({ kind: 'error', error: { code: 'VERSION_NOT_SUPPORTED' } });
    expect(await answerIn(declaring, '1.0')).toMatchObject({ kind: 'response' });
  });

  it('gives the place of a stream back once: at its end, if it is left, and if it does not begin', async () => {
    const streamPlaces = new KeyedPlaces({ perKey: 1, total: 1 });
    const { exchange, request, agent } = setUp({ streamPlaces });
    const openStream = async () => (await callDirectly(exchange, request('sendStreamingMessage', HELLO))).answer;
    agent.handler.behaviours.sendStreamingMessage = () => streamOf(EVENTS);
    const whole = await openStream();
    if (whole.kind !== 'stream') throw new Error('It did not begin');
    expect(await openStream()).toMatchObject({ kind: 'error', error: { code: 'RESOURCE_EXHAUSTED' } });
    let events = 0;
    for await (const _ of whole.items) events += 1;
    expect(events).toBe(EVENTS.length);
    await whole.items.return?.();
    expect(streamPlaces.total).toBe(0);

    const left = await openStream();
    if (left.kind !== 'stream') throw new Error('It did not begin');
    expect(streamPlaces.total).toBe(1);
    await left.items.return?.();
    await left.items.return?.();
    expect(streamPlaces.total).toBe(0);

    agent.handler.behaviours.sendStreamingMessage = () => {
      throw new A2AError('UNAVAILABLE', 'Busy');
    };
    expect(await openStream()).toMatchObject({ kind: 'error', error: { code: 'UNAVAILABLE' } });
    expect(streamPlaces.total).toBe(0);
  });
});

describe('a direct call that no binding answers', () => {
  const request = new DirectRequest({ path: '/', header: () => undefined, signal: new AbortController().signal });

  it.each([
    [401, 'UNAUTHENTICATED'],
    [403, 'PERMISSION_DENIED'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [429, 'RESOURCE_EXHAUSTED'],
    [503, 'UNAVAILABLE'],
    [500, 'INTERNAL_ERROR'],
    [404, 'INTERNAL_ERROR'],
  ])('has the error of the status %i: %s', async (status, code) => {
    const { answer } = await callDirectly(async () => ({ status, headers: {} }), request);
    expect(answer).toMatchObject({ kind: 'error', error: { code } });
  });

  it('has the refusal of a middleware, with its challenges and the time to wait', async () => {
    const refuse = refusedDirectly('TEST');
    const missing = refuse({ request, error: new UnauthenticatedError(['Bearer']), challenges: ['Basic'] });
    expect(missing).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      call: { binding: 'TEST', code: 'UNAUTHENTICATED' },
      direct: { kind: 'error' },
    });
    const error = new A2AError('RESOURCE_EXHAUSTED', 'Too many', { retryAfterMs: 1_500 });
    expect(refuse({ request, error, challenges: [] }).headers).toEqual({ 'retry-after': '2' });
  });
});
