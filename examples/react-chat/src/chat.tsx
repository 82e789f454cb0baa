import { useChat } from '@ai-sdk/react';
import { type ChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import type { A2AChatMessage } from 'parley-a2a-ai-sdk';
import { type FormEvent, useEffect, useState } from 'react';

type Part = A2AChatMessage['parts'][number];

/** The page keeps its messages, the agent keeps the conversation. */
const MESSAGES = 'messages';

function keptMessages(): A2AChatMessage[] {
  return JSON.parse(sessionStorage.getItem(MESSAGES) ?? '[]') as A2AChatMessage[];
}

interface ChatPageProps {
  readonly id: string;
  readonly transport: ChatTransport<A2AChatMessage>;
  /** Stops the agent, if leaving its answer does not. */
  cancel?(): Promise<unknown>;
}

/** A chat that continues after a reload. */
export function ChatPage({ id, transport, cancel }: ChatPageProps) {
  const [text, setText] = useState('');
  const [kept] = useState(keptMessages);
  const { messages, sendMessage, addToolApprovalResponse, stop, status, error } = useChat<A2AChatMessage>({
    id,
    transport,
    messages: kept,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  useEffect(() => sessionStorage.setItem(MESSAGES, JSON.stringify(messages)), [messages]);
  const isBusy = status === 'submitted' || status === 'streaming';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void sendMessage({ text });
    setText('');
  };
  const decide = (approvalId: string, approved: boolean) => addToolApprovalResponse({ id: approvalId, approved });
  return (
    <main>
      {messages.map((message) => (
        <section key={message.id} data-role={message.role}>
          {message.parts.map((part, index) => (
            // Parts only grow at their end.
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other key
            <PartView key={index} part={part} isBusy={isBusy} decide={decide} />
          ))}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={submit}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit" disabled={isBusy || text === ''}>
          Send
        </button>
        <button type="button" disabled={!isBusy} onClick={() => Promise.all([stop(), cancel?.()])}>
          Stop
        </button>
        <output>{status}</output>
      </form>
    </main>
  );
}

interface PartViewProps {
  readonly part: Part;
  readonly isBusy: boolean;
  decide(approvalId: string, approved: boolean): unknown;
}

function PartView({ part, isBusy, decide }: PartViewProps) {
  switch (part.type) {
    case 'text':
      return <p>{part.text}</p>;
    case 'reasoning':
      return <p className="reasoning">{part.text}</p>;
    case 'file':
      return part.mediaType.startsWith('image/') ? (
        <img src={part.url} alt="From the agent" />
      ) : (
        <a href={part.url} download>
          File
        </a>
      );
    case 'data-authorization':
      return part.data.url === undefined ? null : (
        <a href={part.data.url} target="_blank" rel="noreferrer">
          Authorize the agent
        </a>
      );
    case 'dynamic-tool': {
      const { toolName, input, state, approval } = part;
      return (
        <div className="tool">
          <code>
            {toolName} {JSON.stringify(input)}
          </code>{' '}
          <em>{state}</em>
          {state === 'output-available' && <code>{JSON.stringify(part.output)}</code>}
          {state === 'approval-requested' && approval && (
            <>
              {/* `useChat` sends no decision while it resumes a stream. */}
              <button type="button" disabled={isBusy} onClick={() => decide(approval.id, true)}>
                Approve
              </button>
              <button type="button" disabled={isBusy} onClick={() => decide(approval.id, false)}>
                Deny
              </button>
            </>
          )}
        </div>
      );
    }
    default:
      return null;
  }
}
