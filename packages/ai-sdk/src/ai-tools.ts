import type { ToolSet } from 'ai';
import { OptionsError, refuseArgument, type ToolRegistry } from 'parley-a2a/kit';
import type { ToolRun } from 'parley-a2a/tools';
import { modelName } from './recorded-tools.js';
import { RECORDED_BY_RUN } from './tool-recorder.js';

/**
 * Converts the tools of a registry for a model of the AI SDK. The run records each call in the task, and asks the owner
 * of the task if a tool needs an approval.
 * @throws OptionsError if two tools have the same name for models, which allow letters, digits, `_` and `-`.
 */
export async function toAiTools(run: ToolRun, tools: ToolRegistry): Promise<ToolSet> {
  if (typeof Object(tools).list !== 'function') refuseArgument('toAiTools', 'a run and a ToolRegistry', tools);
  const { jsonSchema, tool } = await import('ai');
  const found: ToolSet = {};
  for (const { name, description, inputSchema = { type: 'object' } } of tools.list()) {
    const known = modelName(name);
    if (Object.hasOwn(found, known))
      throw new OptionsError('toAiTools', [`two tools have the name ${known} for models`]);
    found[known] = tool({
      description,
      metadata: RECORDED_BY_RUN,
      // The run validates the arguments, so that invalid ones are recorded, too.
      inputSchema: jsonSchema<unknown>(inputSchema as object),
      execute: (input: unknown, { toolCallId }: { readonly toolCallId: string }) =>
        run.call(name, input, { id: toolCallId }),
    }) as ToolSet[string];
  }
  return found;
}
