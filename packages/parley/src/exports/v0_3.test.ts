import type * as sdk from 'a2a-js-sdk-0.3';
import { expect, it } from 'vitest';
import { createA2AServer, silentLogger } from './index.js';
import type * as v0_3 from './v0_3.js';
import { ERROR_NUMBERS, TASK_STATES } from './v0_3.js';

/** True if values of the official types are values of ours: the compiler refuses the call where they are not. */
function take<Ours>(...values: readonly Ours[]): number {
  return values.length;
}

it('the types are those that other implementations of 0.3 have', () => {
  const none: unknown[] = [];
  const counts = [
    take<v0_3.Task>(...(none as sdk.Task[])),
    take<v0_3.Message>(...(none as sdk.Message[])),
    take<v0_3.Part>(...(none as sdk.Part[])),
    take<v0_3.Artifact>(...(none as sdk.Artifact[])),
    take<v0_3.StreamEvent>(...(none as (sdk.TaskStatusUpdateEvent | sdk.TaskArtifactUpdateEvent)[])),
    take<v0_3.MessageSendParams>(...(none as sdk.MessageSendParams[])),
    take<v0_3.TaskQueryParams>(...(none as sdk.TaskQueryParams[])),
    take<v0_3.TaskPushNotificationConfig>(...(none as sdk.TaskPushNotificationConfig[])),
    take<v0_3.AuthCredentials>(...(none as sdk.PushNotificationAuthenticationInfo[])),
    take<v0_3.AgentCard>(...(none as sdk.AgentCard[])),
    take<v0_3.TaskState>(...(none as sdk.TaskState[])),
    take<sdk.TaskState>(...(none as v0_3.TaskState[])),
  ];
  expect(counts.every((count) => count === 0)).toBe(true);
});

it('the types have what a card of ours tells to clients of Cap’n Web and of files', () => {
  const capabilities: v0_3.AgentCapabilities = { bidirectional: true, taskManagement: true, fileTransfer: true };
  const authentication: v0_3.AgentCard['authentication'] = [{ type: 'bearer', parameters: { scheme: 'token' } }];
  const states: (event: v0_3.StatusEvent | v0_3.ArtifactEvent) => v0_3.TaskState | undefined = (event) =>
    event.type === 'status' ? event.status.state : undefined;
  expect([capabilities, authentication, states]).toHaveLength(3);
});

it('what a server answers in 0.3 has these forms, states and numbers', async () => {
  const server = createA2AServer({ agent: (prompt) => prompt, versions: ['0.3'], logger: silentLogger });
  const { url } = await server.listen(0);
  const call = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return (await answer.json()) as { readonly result?: v0_3.Task; readonly error?: { readonly code: number } };
  };
  try {
    const message: v0_3.Message = {
      kind: 'message',
      messageId: 'm',
      role: 'user',
      parts: [{ kind: 'text', text: 'hi' }],
    };
    const { result } = await call('message/send', { message } satisfies v0_3.MessageSendParams);
    expect(result?.kind).toBe('task');
    expect(TASK_STATES).toContain(result?.status.state);
    expect(result?.artifacts?.[0]?.parts).toEqual([{ kind: 'text', text: 'hi' }]);
    const { error } = await call('tasks/get', { id: 'nobody' } satisfies v0_3.TaskQueryParams);
    expect(error?.code).toBe(ERROR_NUMBERS.TASK_NOT_FOUND);
  } finally {
    await server.close();
  }
});
