import { describe, expect, it } from 'vitest';
import { FILES, failure, GrpcTester, message, serve } from './grpc-world.js';

describe('a call over gRPC', () => {
  it('gets the answer of the agent (Spec §10.4)', async () => {
    const { address } = await serve();
    const { value, metadata } = await new GrpcTester(address).call('SendMessage', { message: message('hello') });
    expect(value).toMatchObject({ message: { role: 'ROLE_AGENT', parts: [{ text: 'You said: hello' }] } });
    expect(metadata.get('x-request-id')).toHaveLength(1);
  });

  it('streams the events of a task, which GetTask then shows', async () => {
    const { address } = await serve();
    const tester = new GrpcTester(address);
    const events = await tester.events('SendStreamingMessage', { message: message('task') });
    const kinds = events.map((event) => Object.keys(event as object)[0]);
    expect(kinds[0]).toBe('task');
    expect(kinds.at(-1)).toBe('statusUpdate');
    const { task } = events[0] as { task: { id: string } };
    const { value } = await tester.call('GetTask', { id: task.id });
    expect(value).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect((await tester.call('ListTasks', {})).value).toMatchObject({ tasks: [{ id: task.id }] });
  });

  it('lists its address in the card if that is wanted (Spec §5.2)', async () => {
    const { server, port } = await serve({}, { listed: 'public' });
    const interfaces = server.agentCard.supportedInterfaces.filter((one) => one.protocolBinding === 'GRPC');
    expect(interfaces).toEqual([
      { url: `127.0.0.1:${port}`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: `127.0.0.1:${port}`, protocolBinding: 'GRPC', protocolVersion: '0.3' },
    ]);
  });

  it('fails with status, ErrorInfo and BadRequest (Spec §10.6)', async () => {
    const { address } = await serve();
    const tester = new GrpcTester(address);
    const missing = await failure(tester.call('GetTask', { id: 'nowhere' }));
    expect(missing).toMatchObject({
      code: 'NOT_FOUND',
      message: 'Task not found',
      status: { code: 5, message: 'Task not found' },
      details: [
        {
          type: 'ErrorInfo',
          value: { reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org', metadata: { taskId: 'nowhere' } },
        },
      ],
    });
    const invalid = await failure(tester.call('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER' } }));
    expect(invalid.code).toBe('INVALID_ARGUMENT');
    expect(invalid.details.map(({ type }) => type)).toEqual(['ErrorInfo', 'BadRequest']);
    expect(invalid.details[1]?.value).toMatchObject({ fieldViolations: [{ field: 'message.parts' }] });
  });

  it('fails the same way for a stream', async () => {
    const { address } = await serve();
    const failed = await failure(new GrpcTester(address).events('SubscribeToTask', { id: 'nowhere' }));
    expect(failed).toMatchObject({ code: 'NOT_FOUND', details: [{ value: { reason: 'TASK_NOT_FOUND' } }] });
  });

  it('is refused if its metadata names another version than its service (Spec §3.6.2)', async () => {
    const { address } = await serve();
    const tester = new GrpcTester(address);
    const call = (version: string) =>
      tester.call('SendMessage', { message: message('hi') }, { 'a2a-version': version });
    expect(await failure(call('0.3'))).toMatchObject({
      code: 'FAILED_PRECONDITION',
      details: [{ value: { reason: 'VERSION_NOT_SUPPORTED' } }],
    });
    expect(await call('1.0')).toMatchObject({ value: { message: {} } });
    expect(await call('1.0.1')).toMatchObject({ value: { message: {} } });
  });

  it('names its version if the agent is strict, unless that is 0.3 (Spec §3.6.2)', async () => {
    const { address } = await serve({ strictVersions: true });
    const tester = new GrpcTester(address);
    const call = (metadata: Record<string, string>) => tester.call('SendMessage', { message: message('hi') }, metadata);
    for (const metadata of [{}, { 'a2a-version': '' }, { 'a2a-version': '0.3' }])
      expect(await failure(call(metadata as Record<string, string>))).toMatchObject({
        code: 'FAILED_PRECONDITION',
        details: [
          {
            value: {
              reason: 'VERSION_NOT_SUPPORTED',
              metadata: { requestedVersion: '0.3', supportedVersions: '1.0' },
            },
          },
        ],
      });
    expect(await call({ 'a2a-version': '1.0' })).toMatchObject({ value: { message: {} } });
    const unnamed = await failure(tester.events('SendStreamingMessage', { message: message('task') }));
    expect(unnamed.message).toMatch(/^A call without A2A-Version is for A2A version 0\.3/);
    const same = (bytes: Buffer) => bytes;
    // GetTask of 0.3 with the name `tasks/t`: without metadata, as clients of 0.3 call.
    const old = await new Promise((resolve) => {
      tester.raw.makeUnaryRequest(
        '/a2a.v1.A2AService/GetTask',
        same,
        same,
        Buffer.from([0x0a, 7, ...Buffer.from('tasks/t')]),
        (error) => resolve(error?.code),
      );
    });
    expect(old).toBe(5);
  });

  it('to an unknown method or service is UNIMPLEMENTED', async () => {
    const { address } = await serve();
    const { raw } = new GrpcTester(address);
    const ask = (path: string) =>
      new Promise((resolve) => {
        const same = (bytes: Buffer) => bytes;
        raw.makeUnaryRequest(path, same, same, Buffer.alloc(0), (error) => resolve(error?.code));
      });
    expect(await ask('/lf.a2a.v1.A2AService/Nothing')).toBe(12);
    expect(await ask('/other.Service/Method')).toBe(12);
  });

  it('ends with the deadline of the client, and its task goes on', async () => {
    const released = Promise.withResolvers<void>();
    let isBegun = false;
    const { address } = await serve({
      agent: {
        async execute(_context, events) {
          await events.working();
          isBegun = true;
          await released.promise;
          await events.complete();
        },
      },
    });
    const tester = new GrpcTester(address);
    const call = () => tester.call('SendMessage', { message: message('wait') }, {}, { deadline: Date.now() + 300 });
    // A machine that stands still uses up the time of a call before its task begins, so it is made again.
    do expect(await failure(call())).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    while (!isBegun);
    const states = async () => {
      const { tasks } = (await tester.call('ListTasks', {})).value as { tasks: { status: { state: string } }[] };
      return new Set(tasks.map(({ status }) => status.state));
    };
    expect(await states()).toEqual(new Set(['TASK_STATE_WORKING']));
    released.resolve();
    await expect.poll(states).toEqual(new Set(['TASK_STATE_COMPLETED']));
  });
});

describe('the health service', () => {
  it('says SERVING for the server and its services, and knows no others', async () => {
    const { address } = await serve();
    const tester = new GrpcTester(address, { file: FILES.health });
    for (const service of ['', 'lf.a2a.v1.A2AService', 'a2a.v1.A2AService']) {
      expect((await tester.call('Check', { service })).value).toEqual({ status: 'SERVING' });
    }
    expect(await failure(tester.call('Check', { service: 'other' }))).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('tells watchers that the server stops, and ends their streams', async () => {
    const { address, server } = await serve();
    const watch = new GrpcTester(address, { file: FILES.health }).stream('Watch', { service: '' });
    const told: unknown[] = [];
    const ended = new Promise<number | undefined>((resolve) =>
      watch.on('error', (error) => resolve((error as { code?: number }).code)),
    );
    watch.on('data', (state) => told.push(state));
    await expect.poll(() => told).toEqual([{ status: 'SERVING' }]);
    await server.close({ graceMs: 500 });
    expect(told.at(-1)).toEqual({ status: 'NOT_SERVING' });
    expect(await ended).toBe(14);
  });
});
