import { newWebSocketRpcSession, type RpcStub } from 'capnweb';
import type { A2AService } from 'parley-a2a-capnweb';
import { expect, expectTypeOf, it } from 'vitest';

it("our interfaces work as types of the stock client's stubs", () => {
  const open = (url: string): RpcStub<A2AService> => newWebSocketRpcSession<A2AService>(url);
  type Service = ReturnType<typeof open>;
  expectTypeOf<Awaited<ReturnType<Service['listTasks']>>['total']>().toEqualTypeOf<number>();
  expectTypeOf<Awaited<ReturnType<Service['getTask']>>['kind']>().toEqualTypeOf<'task'>();
  // A call on the result of another one, before it is there.
  const chainCalls = (service: Service) => service.authenticate({ type: 'bearer', token: 't' }).cancelTask('id');
  expectTypeOf<Awaited<ReturnType<typeof chainCalls>>['id']>().toEqualTypeOf<string>();
  const follow = (service: Service) =>
    service.sendMessageStreaming(
      { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
      { blocking: false },
      (event) => void event.taskId,
    );
  expect([open, chainCalls, follow]).toHaveLength(3);
});
