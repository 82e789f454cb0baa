import {
  InputGuardrailTripwireTriggered,
  MaxTurnsExceededError,
  ModelRefusalError,
  OutputGuardrailTripwireTriggered,
  ToolInputGuardrailTripwireTriggered,
  ToolOutputGuardrailTripwireTriggered,
} from '@openai/agents';

/** The end of a task whose run has ended with an error that the caller may know. */
interface RunFailure {
  readonly state: 'rejected' | 'failed';
  readonly text: string;
}

/** The failure of a run for its caller. `undefined` for errors whose details are only logged. */
export function runFailureOf(error: unknown): RunFailure | undefined {
  if (error instanceof InputGuardrailTripwireTriggered) {
    return { state: 'rejected', text: `The guardrail ${error.result.guardrail.name} refuses the message.` };
  }
  if (error instanceof OutputGuardrailTripwireTriggered) {
    return { state: 'failed', text: `The guardrail ${error.result.guardrail.name} withholds the answer.` };
  }
  if (error instanceof ToolInputGuardrailTripwireTriggered || error instanceof ToolOutputGuardrailTripwireTriggered) {
    return { state: 'failed', text: `The guardrail ${error.result.guardrail.name} stops the call of a tool.` };
  }
  if (error instanceof MaxTurnsExceededError) {
    return { state: 'failed', text: 'The agent needed more turns than it may take.' };
  }
  return error instanceof ModelRefusalError ? { state: 'rejected', text: 'The model refuses to answer.' } : undefined;
}
