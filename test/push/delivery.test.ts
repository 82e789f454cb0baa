import { createHash } from 'node:crypto';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JSONWebKeySet, jwtVerify } from 'jose';
import type { AgentExecutor } from 'parley-a2a';
import { ApiKeys } from 'parley-a2a/auth';
import type { AuditRecord, NotifiedWebhook } from 'parley-a2a/node';
import { describe, expect, it } from 'vitest';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { pushServer, sendParams } from './push-server.js';
import { Receiver, seqOf } from './receiver.js';

const isDone = (text: string) => /COMPLETED|"completed"/.test(text);

describe('notifications', () => {
  it('of 1.0 bring each event of the task in order, with both credentials and an id (Spec §4.3.3)', async () => {
    await using receiver = await Receiver.open();
    await using agent = await pushServer();
    const authentication = { scheme: 'Bearer', credentials: 'pl4nted-s3cret-credentials' };
    const taskPushNotificationConfig = { id: 'c/1', url: receiver.url, token: 'pl4nted-s3cret-token', authentication };
    const { result } = await agent.call('SendMessage', {
      ...sendParams('hi'),
      configuration: { taskPushNotificationConfig },
    });
    const { task } = result as never as { task: { id: string } };
    const received = await receiver.has((all) => all.some(({ text }) => isDone(text)));
    expect(received.map(({ body }) => Object.keys(body)[0])).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    expect(received.map(seqOf)).toEqual([1, 2, 3, 4]);
    for (const { headers } of received) {
      expect(headers).toMatchObject({
        'content-type': 'application/a2a+json',
        authorization: 'Bearer pl4nted-s3cret-credentials',
        'x-a2a-notification-token': 'pl4nted-s3cret-token',
        'x-a2a-notification-id': expect.stringContaining(`${task.id}/c%2F1/`),
        'x-a2a-notification-timestamp': expect.stringMatching(/^\d{10}$/),
      });
    }
  });

  it('of 0.3 bring the task as it stood after each event (0.3 §9.5)', async () => {
    await using receiver = await Receiver.open();
    await using agent = await pushServer();
    const message = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
    const configuration = { pushNotificationConfig: { url: receiver.url, token: 't' } };
    await agent.call('message/send', { message, configuration }, '0.3');
    const received = await receiver.has((all) => all.some(({ text }) => isDone(text)));
    expect(received.map(({ body }) => body)).toMatchObject([
      { kind: 'task', status: { state: 'submitted' } },
      { kind: 'task', status: { state: 'working' } },
      { kind: 'task', status: { state: 'working' }, artifacts: [{ artifactId: 'told' }] },
      { kind: 'task', status: { state: 'completed' }, artifacts: [{ artifactId: 'told' }] },
    ]);
    expect(received[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'x-a2a-notification-token': 't' });
  });

  it('go to each configuration of a task, those added later from the next event on', async () => {
    await using first = await Receiver.open();
    await using second = await Receiver.open();
    await using agent = await pushServer();
    const configuration = { taskPushNotificationConfig: { url: first.url } };
    const { result } = await agent.call('SendMessage', { ...sendParams('wait'), configuration });
    const { task } = result as never as { task: { id: string } };
    await agent.call('CreateTaskPushNotificationConfig', { taskId: task.id, url: second.url });
    await agent.call('SendMessage', sendParams('go', { taskId: task.id }));
    const late = await second.has((all) => all.some(({ text }) => isDone(text)));
    const all = await first.has((some) => some.some(({ text }) => isDone(text)));
    expect(late.map(({ text }) => text)).toEqual(all.slice(-late.length).map(({ text }) => text));
    expect(all.length).toBeGreaterThan(late.length);
  });

  it('are tried again until the receiver takes them, in order and with the same id (Spec §13.2)', async () => {
    await using receiver = await Receiver.open((response, _, count) =>
      count % 2 === 1 ? response.socket?.destroy() : response.writeHead(count % 4 === 0 ? 200 : 503).end(),
    );
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], firstDelayMs: 10 } });
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const received = await receiver.has((all) => all.length === 16);
    expect(received.map(seqOf)).toEqual([1, 2, 3, 4].flatMap((seq) => [seq, seq, seq, seq]));
  });

  it('of a receiver that is gone are parked, listed, replayed and purged by the application', async () => {
    await using receiver = await Receiver.open((response) => response.writeHead(410).end());
    await using agent = await pushServer();
    const { deliveries } = agent.server;
    const configuration = { taskPushNotificationConfig: { id: 'c', url: receiver.url } };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const listParked = async () => (await deliveries.list({ standing: 'parked' })).queues;
    await expect.poll(listParked).toHaveLength(1);
    const [queue] = await listParked();
    expect(queue).toMatchObject({ configId: 'c', position: 0, last: 4, attempts: 1, lastStatus: 410 });
    expect(queue?.parked).toContain('410');
    expect(receiver.received).toHaveLength(1);
    receiver.answering = (response) => response.writeHead(204).end();
    if (queue === undefined) throw new Error('no queue');
    expect(await deliveries.replay(queue, 3)).toBe('replayed');
    const received = await receiver.has((all) => all.some(({ text }) => isDone(text)));
    expect(received.map(seqOf)).toEqual([1, 3, 4]);
    expect(await deliveries.replay(queue, 9)).toBe('not-kept');
    expect(await deliveries.purge(queue)).toBe(true);
    expect(await listParked()).toEqual([]);
  });

  it('replayed and purged by the application are in the audit log, with what came of it', async () => {
    const records: AuditRecord[] = [];
    let isWritable = true;
    const write = (record: AuditRecord) => {
      if (!isWritable) throw new Error('the disk is full');
      records.push(record);
    };
    await using receiver = await Receiver.open((response) => response.writeHead(410).end());
    await using agent = await pushServer({ audit: { write, required: true } });
    const { deliveries } = agent.server;
    const configuration = { taskPushNotificationConfig: { id: 'c', url: receiver.url } };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const listParked = async () => (await deliveries.list({ standing: 'parked' })).queues;
    await expect.poll(listParked).toHaveLength(1);
    const [queue] = await listParked();
    if (queue === undefined) throw new Error('no queue');
    records.length = 0;
    await deliveries.replay(queue, 9);
    await deliveries.purge({ ...queue, configId: 'none' });
    await deliveries.purge(queue);
    const { id: taskId, scope } = queue.key;
    const act = { principal: { kind: 'operator' }, agent: scope.agent, taskId };
    const [refused, missing, done] = records;
    const operation = 'purgeDelivery';
    expect(refused).toMatchObject({ ...act, operation: 'replayDelivery', outcome: 'refused', code: 'INVALID_PARAMS' });
    expect(missing).toMatchObject({ ...act, operation, outcome: 'refused', code: 'TASK_NOT_FOUND', configId: 'none' });
    expect(done).toEqual({
      ...{ ...act, operation, outcome: 'done', code: 'OK', configId: 'c' },
      ...{ id: expect.any(String), time: expect.any(String) },
    });
    isWritable = false;
    await expect(deliveries.purge(queue)).rejects.toThrow('the disk is full');
  });

  it('follow no redirect', async () => {
    await using other = await Receiver.open();
    await using receiver = await Receiver.open((response) => response.writeHead(307, { location: other.url }).end());
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], firstDelayMs: 1 } });
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const listParked = async () => (await agent.server.deliveries.list({ standing: 'parked' })).queues;
    await expect.poll(listParked, { timeout: 10_000 }).toMatchObject([{ lastStatus: 307, attempts: 10 }]);
    expect(other.received).toEqual([]);
  });

  it('after one that the receiver refuses still go out, the final state too', async () => {
    await using receiver = await Receiver.open((response, { text }) =>
      response.writeHead(text.includes('artifactUpdate') ? 422 : 204).end(),
    );
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], firstDelayMs: 1 } });
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const received = await receiver.has((all) => all.some(({ text }) => isDone(text)));
    expect(received.map(seqOf)).toEqual([1, 2, 3, 3, 3, 4]);
    const listPending = async () => (await agent.server.deliveries.list({ standing: 'pending' })).queues;
    await expect.poll(listPending).toEqual([]);
  });

  it('of a long task go to a receiver that refuses all of them within limits', async () => {
    await using receiver = await Receiver.open((response) => response.writeHead(404).end());
    const agent: AgentExecutor = {
      async execute(_, events) {
        for (let at = 0; at < 40; at += 1) await events.artifact('x', { artifactId: `a${at}` });
        await events.complete();
      },
    };
    await using server = await pushServer({ agent, push: { allow: ['127.0.0.0/8'], firstDelayMs: 1, attempts: 5 } });
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    await server.call('SendMessage', { ...sendParams('hi'), configuration });
    const listParked = async () => (await server.server.deliveries.list({ standing: 'parked' })).queues;
    await expect.poll(listParked, { timeout: 10_000 }).toMatchObject([{ lastStatus: 404 }]);
    expect(receiver.received.some(({ text }) => isDone(text))).toBe(true);
    expect(receiver.received.length).toBeLessThan(15);
  });

  it('begin no request after the deletion of their configuration was answered', async () => {
    const gate = Promise.withResolvers<void>();
    await using receiver = await Receiver.open(async (response, _, count) => {
      // When the first record is tried again, the others wait behind it.
      if (count === 2) await gate.promise;
      response.writeHead(count === 1 ? 503 : 204).end();
    });
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], firstDelayMs: 50 } });
    const configuration = { taskPushNotificationConfig: { id: 'hook', url: receiver.url } };
    const { result } = await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const { task } = result as never as { task: { id: string } };
    await receiver.has((all) => all.length === 2);
    await agent.call('DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'hook' });
    gate.resolve();
    await using other = await Receiver.open();
    await agent.call('SendMessage', {
      ...sendParams('hi'),
      configuration: { taskPushNotificationConfig: { url: other.url } },
    });
    await other.has((all) => all.some(({ text }) => isDone(text)));
    expect(receiver.received).toHaveLength(2);
  });

  it('go only to the new url once the replacement of their configuration was answered', async () => {
    const gate = Promise.withResolvers<void>();
    await using receiver = await Receiver.open(async (response, _, count) => {
      if (count === 3) await gate.promise;
      response.writeHead(count === 1 ? 503 : 204).end();
    });
    await using other = await Receiver.open();
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], firstDelayMs: 50 } });
    const configuration = { taskPushNotificationConfig: { id: 'hook', url: receiver.url } };
    const { result } = await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const { task } = result as never as { task: { id: string } };
    await receiver.has((all) => all.length === 3);
    const replacing = { taskId: task.id, id: 'hook', url: other.url };
    expect(await agent.call('CreateTaskPushNotificationConfig', replacing)).toHaveProperty('result');
    gate.resolve();
    await other.has((all) => all.some(({ text }) => isDone(text)));
    expect(receiver.received).toHaveLength(3);
  });

  it('have an answer as soon as its status has come, also if its body never ends', async () => {
    await using receiver = await Receiver.open((response) => void response.writeHead(200).write('and'));
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], timeoutMs: 2_000 } });
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const received = await receiver.has((all) => all.some(({ text }) => isDone(text)));
    expect(received.map(seqOf)).toEqual([1, 2, 3, 4]);
  });

  it('to a host that stalls hold up no other host', async () => {
    const stalled: unknown[] = [];
    await using slow = await Receiver.open((response) => void stalled.push(response));
    await using quick = await Receiver.open();
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], inFlight: 8, inFlightPerHost: 4 } });
    const send = (url: string) =>
      agent.call('SendMessage', { ...sendParams('hi'), configuration: { taskPushNotificationConfig: { url } } });
    for (let at = 0; at < 20; at += 1) await send(slow.url);
    await send(quick.url);
    await quick.has((all) => all.some(({ text }) => isDone(text)));
    expect(stalled.length).toBeLessThanOrEqual(4);
  });

  it('to many hosts of one user that stall hold up no other user', async () => {
    await using stack = new AsyncDisposableStack();
    const stalled = Array.from({ length: 24 }, async () => stack.use(await Receiver.open(() => undefined)));
    const hosts = (await Promise.all(stalled)).map(({ url }) => url);
    await using quick = await Receiver.open();
    const users = ['mallory', 'bob'].map((subject) => ({ key: `${subject}-key-of-enough-length`, subject }));
    await using agent = await pushServer({
      authenticator: new ApiKeys(users),
      push: { allow: ['127.0.0.0/8'], inFlight: 8, inFlightPerHost: 4, timeoutMs: 60_000 },
    });
    const send = (user: string, url: string) => {
      const message = { ...sendParams('hi'), configuration: { taskPushNotificationConfig: { url } } };
      return agent.call('SendMessage', message, '1.0', { 'x-api-key': `${user}-key-of-enough-length` });
    };
    await Promise.all(hosts.map((url) => send('mallory', url)));
    await send('bob', quick.url);
    await quick.has((all) => all.some(({ text }) => isDone(text)));
  });
});

describe('headers of the operator', () => {
  const GATEWAY = { 'X-Gateway-Key': 'pl4nted-s3cret-gateway' };

  it.each(['1.0', '0.3'])('go to all webhooks of %s, and credentials of a caller win', async (version) => {
    await using receiver = await Receiver.open();
    const headers = { ...GATEWAY, Authorization: 'Basic pl4nted-s3cret-operator' };
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], headers } });
    const webhook = {
      url: receiver.url,
      authentication: {
        ...(version === '1.0' ? { scheme: 'Bearer' } : { schemes: ['Bearer'] }),
        credentials: 'pl4nted-s3cret-caller',
      },
    };
    if (version === '1.0')
      await agent.call('SendMessage', { ...sendParams('hi'), configuration: { taskPushNotificationConfig: webhook } });
    else {
      const message = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
      await agent.call('message/send', { message, configuration: { pushNotificationConfig: webhook } }, '0.3');
    }
    for (const { headers: sent } of await receiver.has((all) => all.some(({ text }) => isDone(text))))
      expect(sent).toMatchObject({
        'x-gateway-key': 'pl4nted-s3cret-gateway',
        authorization: 'Bearer pl4nted-s3cret-caller',
      });
  });

  it('go only to the webhooks for which its function gives them', async () => {
    await using ours = await Receiver.open();
    await using foreign = await Receiver.open();
    const asked: NotifiedWebhook[] = [];
    const headers = (webhook: NotifiedWebhook) => {
      asked.push(webhook);
      return webhook.url.origin === new URL(ours.url).origin ? GATEWAY : undefined;
    };
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], headers } });
    for (const { url } of [ours, foreign])
      await agent.call('SendMessage', {
        ...sendParams('hi'),
        configuration: { taskPushNotificationConfig: { id: 'c', url } },
      });
    const [first] = await ours.has((all) => all.some(({ text }) => isDone(text)));
    const strangers = await foreign.has((all) => all.some(({ text }) => isDone(text)));
    expect(first?.headers['x-gateway-key']).toBe('pl4nted-s3cret-gateway');
    expect(strangers.map(({ headers: sent }) => sent['x-gateway-key'])).toEqual(strangers.map(() => undefined));
    expect(asked[0]).toMatchObject({ id: 'c', taskId: expect.any(String), tenant: '', owner: null });
  });

  it.each([
    ['that throws', () => JSON.parse('no headers')],
    ['that gives a line break', () => ({ 'x-key': 'pl4nted-s3cret\r\nx-more: 1' })],
    ['that gives a host', () => ({ Host: 'pl4nted-s3cret.example' })],
    ['that gives a promise', () => Promise.resolve(GATEWAY) as never],
  ])('of a function %s park the webhook after all attempts, and nothing is sent', async (_, headers) => {
    await using receiver = await Receiver.open();
    const logger = new CapturingLogger();
    const push = { allow: ['127.0.0.0/8'], attempts: 2, firstDelayMs: 10, headers };
    await using agent = await pushServer({ push, logger });
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const listParked = async () => (await agent.server.deliveries.list({ standing: 'parked' })).queues;
    await expect.poll(listParked).toMatchObject([{ attempts: 2, parked: expect.stringContaining('no headers from') }]);
    expect(receiver.received).toEqual([]);
    const told = logger.lines.filter(({ message }) => message.includes('headers of a push notification'));
    expect(told).toHaveLength(2);
  });

  it.each([
    ['of the connection', { Connection: 'close' }],
    ['of the content', { 'Content-Type': 'text/plain' }],
    ['that name the host', { host: 'other.example' }],
    ['of the notification itself', { 'X-A2A-Notification-Token': 'mine' }],
    ['with line breaks', { 'x-key': 'a\r\nb' }],
    ['with a name that is none', { 'x key': 'a' }],
    ['with a long value', { 'x-key': 'a'.repeat(8_193) }],
    ['that are many', Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`x-${at}`, 'a']))],
  ])('%s are refused when the server is made', async (_, headers) => {
    await expect(pushServer({ push: { headers } })).rejects.toThrow(/push\.headers: must be a function, or at most 32/);
  });
});

describe('signed notifications', () => {
  it('pass a receiver that reads the published keys, and fail for another body (Spec §13.2)', async () => {
    await using receiver = await Receiver.open();
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const key = { ...(await exportJWK(privateKey)), kty: 'EC', kid: 'k1', alg: 'ES256' };
    const signature = { issuer: 'https://agent.example', keys: [key] };
    await using agent = await pushServer({ push: { allow: ['127.0.0.0/8'], signature } });
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration });
    const received = await receiver.has((all) => all.some(({ text }) => isDone(text)));
    const answer = await fetch(`${agent.url}/.well-known/jwks.json`);
    const set = (await answer.json()) as JSONWebKeySet;
    expect(JSON.stringify(set)).not.toContain(key.d);
    for (const { headers, text } of received) {
      const token = String(headers['x-a2a-notification-signature']);
      const rules = { issuer: 'https://agent.example', audience: receiver.url };
      const { payload } = await jwtVerify(token, createLocalJWKSet(set), rules);
      expect(payload).toMatchObject({
        jti: headers['x-a2a-notification-id'],
        request_body_sha256: createHash('sha256').update(text).digest('hex'),
      });
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300);
    }
  });

  it('need private keys with a name and an algorithm', async () => {
    const signature = { issuer: 'https://agent.example', keys: [{ kty: 'oct', kid: 'a', alg: 'HS256', k: 'x' }] };
    await expect(pushServer({ push: { signature } })).rejects.toThrow(
      /push\.signature\.keys\[0\]: must be a private key/,
    );
  });
});
