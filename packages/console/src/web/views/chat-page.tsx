import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Agent } from '../agents.js';
import { type Conversation, conversationOf, type Turn } from '../conversation-store.js';
import { interruptions, newConversation, resumeConversation, type Said, say, sayAgain, stop } from '../conversing.js';
import { questionsOf } from '../questions.js';
import { fragmentOf, replaceRoute } from '../route.js';
import { agoOf, shownName, shownText } from '../shown-name.js';
import { isEnded, isWaiting, newArtifacts, type TaskView } from '../task-view.js';
import { isReasoning, recordsCalls } from '../tool-calls.js';
import { Composer } from './composer.js';
import { Empty, Failure, StateLabel } from './controls.js';
import { Reasoning, ToolCalls } from './folds.js';
import { Parts } from './parts.js';
import { AskedText, Questions } from './questions.js';

/** A conversation with an agent. */
export function ChatPage({ agent, id }: { readonly agent: Agent; readonly id: string | undefined }) {
  const fresh = useRef<Conversation | undefined>(undefined);
  const kept = conversationOf(id);
  fresh.current = kept === undefined ? (fresh.current ?? newConversation(agent)) : undefined;
  const conversation = kept ?? fresh.current ?? newConversation(agent);
  const isKnown = conversationOf(conversation.id) !== undefined;
  useEffect(() => resumeConversation(agent, conversation), [agent, conversation.id]);
  const send = (said: Said): void => {
    void say(agent, conversation, said);
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
  readonly send: (said: Said) => void;
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
  const handleScroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = list.current ?? {};
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus, so that keys scroll it.
    <div class="turns" ref={list} onScroll={handleScroll} tabIndex={0} role="log" aria-label="Conversation">
      {turns.length === 0 && <Start agent={agent} send={send} />}
      {turns.map((turn, at) => (
        <TurnView
          key={turn.messageId}
          agent={agent}
          conversation={conversation}
          turn={turn}
          send={at === turns.length - 1 ? send : undefined}
          earlier={turns.slice(0, at).findLast(({ reply }) => reply.view?.id === turn.reply.view?.id)?.reply.view}
        />
      ))}
    </div>
  );
}

function Start({ agent, send }: { readonly agent: Agent; readonly send: ChatShape['send'] }) {
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
              <button type="button" onClick={() => send({ text: example })}>
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
  /** Absent: a later turn has answered its questions. */
  readonly send: ChatShape['send'] | undefined;
  /** The same task at the end of an earlier turn. */
  readonly earlier: TaskView | undefined;
}

function TurnView({ agent, conversation, turn, send, earlier }: TurnShape) {
  const { text, files = [], at, reply } = turn;
  const { view, message, phase, failure, events, breaks } = reply;
  const interruption = interruptions.value.get(turn.messageId);
  const isRunning = phase === 'running';
  const questions = view === undefined || send === undefined ? [] : questionsOf(view);
  return (
    <section class="turn" aria-label={`Message: ${shownName(text, 60)}`}>
      <div class="mine">
        {text !== '' && <p dir="auto">{text}</p>}
        {files.map((name, place) => (
          <p key={place} class="sent-file">
            <bdi>{shownName(name, 80)}</bdi>
          </p>
        ))}
        <span class="when">{agoOf(new Date(at).toISOString(), Date.now())}</span>
      </div>
      <div class="reply" aria-busy={isRunning}>
        {view !== undefined && <TaskReply view={view} earlier={earlier} />}
        {message !== undefined && <Parts parts={message.parts} />}
        {questions.length > 0 && (
          <Questions
            questions={questions}
            send={(told, data) => {
              send?.({ text: told, data });
            }}
          />
        )}
        {isRunning && questions.length === 0 && <p class="typing">{progressOf(view)}</p>}
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
          {!isRunning &&
            turn.hasData !== true &&
            (phase === 'failed' || (view !== undefined && isEnded(view.state))) && (
              <button type="button" class="quiet" onClick={() => void sayAgain(agent, conversation, turn)}>
                Send again
              </button>
            )}
        </footer>
      </div>
    </section>
  );
}

/** The last status message of a running task describes its progress. */
function progressOf(view: TaskView | undefined): string {
  if (view === undefined) return 'Sending';
  const [part] = view.message?.parts ?? [];
  return part !== undefined && part.text !== undefined ? shownName(part.text, 200) : 'Streaming';
}

function factsOf(events: number, breaks: number): string {
  const counted = events === 1 ? '1 event' : `${events} events`;
  if (breaks === 0) return counted;
  return `${counted}, resumed ${breaks === 1 ? 'once' : `${breaks} times`}`;
}

function TaskReply({ view, earlier }: { readonly view: TaskView; readonly earlier: TaskView | undefined }) {
  const { notes, message, state } = view;
  const changed = newArtifacts(view, earlier);
  const artifacts = changed.filter((one) => !recordsCalls(one) && !isReasoning(one));
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
      {changed.filter(isReasoning).map((one) => (
        <Reasoning key={one.artifactId} artifact={one} isOpen={artifacts.length === 0 && !isEnded(state)} />
      ))}
      {changed.filter(recordsCalls).map((one) => (
        <ToolCalls key={one.artifactId} artifact={one} />
      ))}
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
      {message !== undefined && (isEnded(state) || isWaiting(state)) && (
        <AskedText parts={message.parts} questions={questionsOf(view)} />
      )}
    </>
  );
}
