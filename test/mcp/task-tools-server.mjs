// An MCP server of the official SDK whose tools run only as tasks.
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
const store = new InMemoryTaskStore();
const server = new McpServer(
  { name: 'tasks', version: '1' },
  {
    capabilities: { tools: {}, tasks },
    taskStore: store,
    taskMessageQueue: new InMemoryTaskMessageQueue(),
    defaultTaskPollInterval: 20,
  },
);

/** A tool that runs as a task. `work` resolves to its result. */
function taskTool(name, work) {
  server.experimental.tasks.registerToolTask(
    name,
    { inputSchema: {} },
    {
      createTask: async (_, extra) => {
        const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl, pollInterval: 20 });
        const { taskId } = task;
        void work(taskId, extra).then(({ status = 'completed', ...result }) =>
          extra.taskStore.storeTaskResult(taskId, status, result),
        );
        return { task };
      },
      getTask: (_, { taskId, taskStore }) => taskStore.getTask(taskId),
      getTaskResult: (_, { taskId, taskStore }) => taskStore.getTaskResult(taskId),
    },
  );
}

taskTool('slow', async () => text('done'));
taskTool('fail', async () => ({ status: 'failed', ...text('The disk is full'), isError: true }));
taskTool('hang', () => new Promise(() => {}));
taskTool('ask', async (taskId, extra) => {
  const params = { mode: 'form', message: 'Which city?', requestedSchema: { type: 'object', properties: {} } };
  const { action, content } = await extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, {
    relatedTask: { taskId },
  });
  return text(action === 'accept' ? `It rains in ${content.city}` : 'No city');
});
server.registerTool('states', {}, async () => {
  const listed = await store.listTasks();
  return text(listed.tasks.map(({ status }) => status).join());
});

await server.connect(new StdioServerTransport());
