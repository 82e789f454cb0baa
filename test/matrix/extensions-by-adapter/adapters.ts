import {
  Annotation,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { Agent, type RunContext, tool } from '@openai/agents';
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from '@openai/agents/testing';
import { tool as aiTool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { AgentExecutor, Part, RequestContext, Task } from 'parley-a2a';
import { answerApprovals, defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';
import { streamTextAgent } from 'parley-a2a-ai-sdk';
import { langGraphAgent } from 'parley-a2a-langgraph';
import { openAIAgent } from 'parley-a2a-openai-agents';
import { z } from 'zod';
import { finish, step, text, toolCall } from '../../ai-sdk/model-parts.js';

/** The work of an agent in each of its turns. The agent says the result. */
export interface Work {
  /** True if the caller must approve the work first. */
  readonly needsApproval?: boolean;
  run(context: RequestContext): string | Promise<string>;
}

/** The ways to write an agent. */
export type Adapter = 'plain handler' | 'AI SDK' | 'LangGraph' | 'OpenAI Agents';

/** A way to write an agent. */
export interface AdapterRow {
  /** Makes an agent that does the work as a tool, or as the node of a graph. */
  agent(work: Work): AgentExecutor;
  /** The parts with which a caller decides about the work. */
  decision(task: Task, decision: 'approve' | 'refuse'): readonly Part[];
}

const byApproval: AdapterRow['decision'] = (task, decision) => answerApprovals(task, decision).parts;
const NOT_DONE = 'not done';

export const ADAPTERS: Readonly<Record<Adapter, AdapterRow>> = {
  'plain handler': {
    agent: ({ needsApproval = false, run: doWork }) => {
      const any = jsonSchema<unknown>({});
      const contexts = new Map<string, RequestContext>();
      const act = defineTool({
        name: 'act',
        input: any,
        needsApproval,
        run: (_, { taskId = '' }) => doWork(contexts.get(taskId) as RequestContext),
      });
      return toolAgent(new ToolRegistry([act]), async (run, { context, events }) => {
        contexts.set(context.taskId, context);
        const said = await run.call(act, {}).catch((error: { readonly reason?: string }) => {
          if (error.reason === 'refused') return NOT_DONE;
          throw error;
        });
        await events.artifact(String(said));
        await events.complete();
      });
    },
    decision: byApproval,
  },

  'AI SDK': {
    agent: ({ needsApproval = false, run }) => {
      let made = 0;
      const model = new MockLanguageModelV4({
        doStream: async ({ prompt }) => {
          const last = prompt.at(-1);
          if (last?.role !== 'tool') return step(toolCall(`c${++made}`, 'act', {}), finish('tool-calls'));
          const [result] = last.content.flatMap((part) => (part.type === 'tool-result' ? [part.output] : []));
          const said = result?.type === 'text' || result?.type === 'json' ? String(result.value) : NOT_DONE;
          return step(text([said]), finish());
        },
      });
      return streamTextAgent((context) => ({
        model,
        tools: { act: aiTool({ inputSchema: z.object({}), needsApproval, execute: () => run(context) }) },
      }));
    },
    decision: byApproval,
  },

  LangGraph: {
    agent: ({ needsApproval = false, run }) => {
      const State = Annotation.Root({ said: Annotation<string> });
      const responseSchema = z.enum(['approve', 'refuse']);
      const graph = new StateGraph(State)
        .addNode('act', async (_, { context }: LangGraphRunnableConfig) => {
          const isDone = !needsApproval || interrupt('May I?', { responseSchema }) === 'approve';
          return { said: isDone ? await run((context as { turn: RequestContext }).turn) : NOT_DONE };
        })
        .addEdge(START, 'act')
        .compile({ checkpointer: new MemorySaver() });
      return langGraphAgent({
        graph,
        input: () => ({ said: '' }),
        output: (state) => (state as typeof State.State).said,
        runContext: (turn) => ({ turn }),
      });
    },
    decision: (_, decision) => [{ data: decision }],
  },

  'OpenAI Agents': {
    agent: ({ needsApproval = false, run }) => {
      const act = tool({
        name: 'act',
        description: 'Acts',
        parameters: z.object({}),
        needsApproval,
        execute: (_, given?: RunContext<RequestContext>) => run((given as RunContext<RequestContext>).context),
      });
      let made = 0;
      const answer = modelResponder(({ request: { input } }) => {
        const last = typeof input === 'string' ? undefined : input.at(-1);
        if (last?.type !== 'function_call_result') return [functionCall('act', {}, { callId: `c${++made}` })];
        const { output } = last;
        const said = typeof output === 'string' ? output : 'text' in output ? output.text : '';
        return [assistantMessage(said.includes('refused') ? NOT_DONE : said)];
      });
      const model = new ScriptedModel(Array.from({ length: 8 }, () => answer));
      return openAIAgent({ agent: new Agent({ name: 'A', tools: [act], model }), runContext: (turn) => turn });
    },
    decision: byApproval,
  },
};
