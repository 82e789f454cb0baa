import { fileURLToPath } from 'node:url';
import { ToolRegistry } from 'parley-a2a/tools';
import { type McpToolsOptions, mcpTools } from 'parley-a2a-mcp';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

const SCRIPT = fileURLToPath(new URL('task-tools-server.mjs', import.meta.url));

async function openTools(options: Partial<McpToolsOptions> = {}) {
  const tools = await mcpTools({ name: 'desk', command: process.execPath, args: [SCRIPT], ...options });
  onTestFinished(() => tools.close());
  const registry = new ToolRegistry(tools.tools);
  return (name: string, signal?: AbortSignal) => registry.execute(`desk_${name}`, {}, signal && { signal });
}

describe('tools of an MCP server that run only as tasks', () => {
  it('give the result of their task', async () => {
    const run = await openTools();
    expect(await run('slow')).toBe('done');
    await expect(run('fail')).rejects.toThrow('The disk is full');
  });

  it('ask their questions while they run', async () => {
    const run = await openTools({ elicit: ({ message }) => ({ city: message.length > 0 ? 'Rome' : '' }) });
    expect(await run('ask')).toBe('It rains in Rome');
  });

  it('cancel their task if the call is canceled', async () => {
    const run = await openTools();
    const stop = new AbortController();
    const call = run('hang', stop.signal);
    await vi.waitFor(async () => expect(await run('states')).toBe('working'), 15_000);
    stop.abort();
    await expect(call).rejects.toThrow();
    await vi.waitFor(async () => expect(await run('states')).toBe('cancelled'), 15_000);
  });

  it('cancel their task if the call takes too long', async () => {
    const run = await openTools({ timeoutMs: 500 });
    // A machine that stands still uses up the time of a call before its task is made. The server forgets tasks after a
    // second.
    do await expect(run('hang')).rejects.toMatchObject({ reason: 'timeout' });
    while (!String(await vi.waitFor(() => run('states'), 15_000)).includes('cancelled'));
  });
});
