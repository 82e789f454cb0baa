import { type AgentExecutor, connect, createA2AServer, type Task } from 'parley-a2a';
import { MemoryStorage, systemClock, type TaskStorage } from 'parley-a2a/server';
import { onTestFinished } from 'vitest';

/** A server of an agent until the end of the test, and a client of it. `send` waits for the turn of a task. */
export async function servedAgent(
  agent: AgentExecutor,
  storage: TaskStorage = new MemoryStorage({ clock: systemClock }),
) {
  const server = createA2AServer({ agent, storage });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const client = await connect(server);
  const send = async (message: Parameters<typeof client.ask>[0]): Promise<Task> => {
    const answer = await client.ask(message);
    if (answer.task === undefined) throw new Error('There is no task');
    return answer.task;
  };
  return { server, client, send };
}
