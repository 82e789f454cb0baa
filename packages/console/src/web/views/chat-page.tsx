import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Agent } from '../agents.js';
import { type Conversation, conversationOf, type Turn } from '../conversation-store.js';
import { interruptions, newConversation, resumeConversation, say, sayAgain, stop, waitingTask } from '../conversing.js';
import { fragmentOf, replaceRoute } from '../route.js';
import { agoOf, shownName, shownText } from '../shown-name.js';
import { isEnded, isWaiting, newArtifacts, type TaskView } from '../task-view.js';
import { Empty, Failure, StateLabel } from './controls.js';
import { Parts } from './parts.js';

/** A conversation with an agent. */
export function ChatPage({ agent, id }: { readonly agent: Agent; readonly id: string | undefined }) {
  const fresh = useRef<Conversation | undefined>(undefined);
  const kept = conversationOf(id);
  fresh.current = kept === undefined ? (fresh.current ?? newConversation(agent)) : undefined;
  const conversation = kept ?? fresh.current ?? newConversation(agent);
  const isKnown = conversationOf(conversation.id) !== undefined;
  useEffect(() => resumeConversation(agent, conversation), [agent, conversation.id]);
  const send = (text: string): void => {
    void say(agent, conversation, text);
    if (!isKnown) replaceRoute({ page: 'chat', agent: agent.path, id: conversation.id });
  };
  return (
    <div class="chat">
      <h1>
        <bdi>{shownName(agent.card.name)}</bdi>
      </h1>
      <Turns key={conversation.id} agent={agent} conversation={conversation} send={send} />
      <Composer key={`${conversation.id} answer`} agent={agent} conversation={conversation} send={send} />
    </div>
  );
}

interface ChatShape {
  readonly agent: Agent;
  readonly conversation: Conversation;
  readonly send: (text: string) => void;
}

/** Distance from the end, in pixels, within which the list follows a stream. */
const NEAR_END = 80;

function Turns({ agent, conversation, send }: ChatShape) {
  const { turns } = conversation;
  const list = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const seen = useRef(0);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    if (turns.length > seen.current) follows.current = true;
    seen.current = turns.length;
    if (follows.current) element.scrollTop = element.scrollHeight;
  });
  const scrolled = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = list.current ?? {};
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus, so that keys scroll it.
    <div class="turns" ref={list} onScroll={scrolled} tabIndex={0} role="log" aria-label="Conversation">
      {turns.length === 0 && <Start agent={agent} send={send} />}
      {turns.map((turn, at) => (
        <TurnView
          key={turn.messageId}
          agent={agent}
          conversation={conversation}
          turn={turn}
          earlier={turns.slice(0, at).findLast(({ reply }) => reply.view?.id === turn.reply.view?.id)?.reply.view}
        />
      ))}
    </div>
  );
}

function Start({ agent, send }: { readonly agent: Agent; readonly send: (text: string) => void }) {
  const examples = agent.card.skills.flatMap(({ examples = [] }) => examples).slice(0, 6);
  return (
    <div class="start">
      <Empty title="Start a conversation">
        <bdi>{shownText(agent.card.description.slice(0, 600))}</bdi>
      </Empty>
      {examples.length > 0 && (
        <ul class="examples" aria-label="Examples">
          {examples.map((example) => (
            <li key={example}>
              <button type="button" onClick={() => send(example)}>
                <bdi>{shownName(example, 200)}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface TurnShape {
  readonly agent: Agent;
  readonly conversation: Conversation;
  readonly turn: Turn;
  /** The same task as an earlier turn has left it. */
  readonly earlier: TaskView | undefined;
}

function TurnView({ agent, conversation, turn, earlier }: TurnShape) {
  const { text, at, reply } = turn;
  const { view, message, phase, failure, events, breaks } = reply;
  const interruption = interruptions.value.get(turn.messageId);
  const isRunning = phase === 'running';
  return (
    <section class="turn" aria-label={`Message: ${shownName(text, 60)}`}>
      <div class="mine">
        <p dir="auto">{text}</p>
        <span class="when">{agoOf(new Date(at).toISOString(), Date.now())}</span>
      </div>
      <div class="reply" aria-busy={isRunning}>
        {view !== undefined && <TaskReply view={view} earlier={earlier} />}
        {message !== undefined && <Parts parts={message.parts} />}
        {isRunning && <p class="typing">{progressOf(view)}</p>}
        {interruption !== undefined && (
          <p class="interruption" role="status">
            {interruption}
          </p>
        )}
        {failure !== undefined && <Failure>{failure}</Failure>}
        <footer class="reply-foot">
          {view !== undefined && <StateLabel state={view.state} />}
          {view !== undefined && (
            <a href={fragmentOf({ page: 'tasks', agent: agent.path, id: view.id })}>Task and timeline</a>
          )}
          {events > 0 && <span class="facts">{factsOf(events, breaks)}</span>}
          {isRunning && (
            <>
              <button type="button" onClick={() => void stop(agent, conversation, turn)}>
                Stop
              </button>
              <button type="button" class="quiet" onClick={() => agent.connections.cut()}>
                Drop the connection
              </button>
            </>
          )}
          {!isRunning && (phase === 'failed' || (view !== undefined && isEnded(view.state))) && (
            <button type="button" class="quiet" onClick={() => void sayAgain(agent, conversation, turn)}>
              Send again
            </button>
          )}
        </footer>
      </div>
    </section>
  );
}

/** The last status message of a task that goes on is about its progress. */
function progressOf(view: TaskView | undefined): string {
  if (view === undefined) return 'Sending';
  const [part] = view.message?.parts ?? [];
  return part !== undefined && 'text' in part ? shownName(part.text, 200) : 'Streaming';
}

function factsOf(events: number, breaks: number): string {
  const counted = events === 1 ? '1 event' : `${events} events`;
  if (breaks === 0) return counted;
  return `${counted}, resumed ${breaks === 1 ? 'once' : `${breaks} times`}`;
}

function TaskReply({ view, earlier }: { readonly view: TaskView; readonly earlier: TaskView | undefined }) {
  const { notes, message, state } = view;
  const artifacts = newArtifacts(view, earlier);
  const told = new Set(earlier?.notes.map(({ messageId }) => messageId));
  const newNotes = notes.filter(({ messageId }) => !told.has(messageId) && messageId !== earlier?.message?.messageId);
  return (
    <>
      {newNotes.length > 0 && (
        <details class="fold" open={!isEnded(state)}>
          <summary>{newNotes.length === 1 ? '1 note on the way' : `${newNotes.length} notes on the way`}</summary>
          {newNotes.slice(-200).map((note) => (
            <Parts key={note.messageId} parts={note.parts} />
          ))}
        </details>
      )}
      {artifacts.map(({ artifactId, name, parts }) => (
        <article key={artifactId} class="artifact">
          {name !== undefined && artifacts.length > 1 && (
            <p class="artifact-name">
              <bdi>{shownName(name)}</bdi>
            </p>
          )}
          <Parts parts={parts} />
        </article>
      ))}
      {message !== undefined && (isEnded(state) || isWaiting(state)) && <Parts parts={message.parts} />}
    </>
  );
}

function Composer({ agent, conversation, send }: ChatShape) {
  const text = useSignal('');
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On small screens the focus would open the keyboard over the page.
    if (matchMedia('(min-width: 48rem)').matches) field.current?.focus({ preventScroll: true });
  }, []);
  const waiting = waitingTask(conversation);
  // The agent may keep the stream open while it waits.
  const isRunning = waiting === undefined && conversation.turns.at(-1)?.reply.phase === 'running';
  const submit = (event?: Event): void => {
    event?.preventDefault();
    const said = text.value.trim();
    if (said === '' || isRunning) return;
    text.value = '';
    send(said);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
  };
  const label = waiting === undefined ? `Message to ${shownName(agent.card.name, 40)}` : 'Your answer';
  return (
    <form class="composer" onSubmit={submit}>
      {waiting !== undefined && (
        <p class="waiting" role="status">
          {waiting.state === 'TASK_STATE_AUTH_REQUIRED'
            ? 'The agent waits for your authorization. Follow its instructions, then answer here if it asks you to.'
            : 'The agent waits for your answer.'}
        </p>
      )}
      <div class="composer-row">
        <textarea
          ref={field}
          rows={2}
          aria-label={label}
          placeholder={label}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
          onKeyDown={pressed}
        />
        <button type="submit" class="primary" disabled={isRunning || text.value.trim() === ''}>
          Send
        </button>
      </div>
      <p class="hint">Enter sends, Shift and Enter begins a new line.</p>
    </form>
  );
}
