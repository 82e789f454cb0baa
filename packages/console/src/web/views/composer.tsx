import { useSignal } from '@preact/signals';
import type { RawPart } from 'parley-a2a';
import { useEffect, useRef } from 'preact/hooks';
import type { Agent } from '../agents.js';
import { fileBytes, filePart, mostFileBytes } from '../attachments.js';
import type { Conversation } from '../conversation-store.js';
import { type Said, waitingTask } from '../conversing.js';
import { bytesText, shownName } from '../shown-name.js';
import { uploadProgress } from '../uploads.js';
import { Failure } from './controls.js';

interface ComposerShape {
  readonly agent: Agent;
  readonly conversation: Conversation;
  readonly send: (said: Said) => void;
}

/** The field for messages, with files by button and by drop. */
export function Composer({ agent, conversation, send }: ComposerShape) {
  const text = useSignal('');
  const files = useSignal<readonly RawPart[]>([]);
  const failure = useSignal<string | undefined>(undefined);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On small screens the focus would open the keyboard over the page.
    if (matchMedia('(min-width: 48rem)').matches) field.current?.focus({ preventScroll: true });
  }, []);
  const waiting = waitingTask(conversation);
  // The agent may keep the stream open while it waits.
  const isRunning = waiting === undefined && conversation.turns.at(-1)?.reply.phase === 'running';
  const isEmpty = text.value.trim() === '' && files.value.length === 0;
  const submit = (event?: Event): void => {
    event?.preventDefault();
    const said = text.value.trim();
    if (isEmpty || isRunning) return;
    const sent = files.value;
    text.value = '';
    files.value = [];
    send({ text: said, files: sent });
  };
  const handleKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
  };
  const { bodyBytes } = agent.place;
  const most = mostFileBytes(bodyBytes);
  const attach = async (added: Iterable<File>): Promise<void> => {
    failure.value = undefined;
    for (const file of added) {
      try {
        files.value = [...files.value, await filePart(file, files.value, most)];
      } catch (error) {
        failure.value = (error as Error).message;
      }
    }
  };
  const isOver = useDrop((dropped) => void attach(dropped));
  const label = waiting === undefined ? `Message to ${shownName(agent.card.name, 40)}` : 'Your answer';
  return (
    <form class={`composer${isOver ? ' drop' : ''}`} onSubmit={submit}>
      {waiting !== undefined && (
        <p class="waiting" role="status">
          {waiting.state === 'TASK_STATE_AUTH_REQUIRED'
            ? 'The agent waits for your authorization. Follow its instructions, then answer here if it asks you to.'
            : 'The agent waits for your answer.'}
        </p>
      )}
      <Attached
        files={files.value}
        remove={(at) => {
          files.value = files.value.filter((_, place) => place !== at);
        }}
      />
      {failure.value !== undefined && <Failure>{failure.value}</Failure>}
      {uploadProgress.value !== undefined && (
        <progress aria-label="Sending" max={1} value={uploadProgress.value}>
          {Math.round(uploadProgress.value * 100)} %
        </progress>
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
          onKeyDown={handleKey}
        />
        <button type="submit" class="primary" disabled={isRunning || isEmpty}>
          Send
        </button>
      </div>
      <div class="composer-foot">
        <AttachButton attach={attach} />
        <p class="hint">
          Up to {bytesText(most)} of files{bodyBytes === undefined && ', if the agent takes them'}.
        </p>
        <p class="hint keys">Drop them anywhere. Enter sends, Shift and Enter begins a new line.</p>
      </div>
    </form>
  );
}

function AttachButton({ attach }: { readonly attach: (files: Iterable<File>) => Promise<void> }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="quiet" onClick={() => input.current?.click()}>
        Attach files
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={({ currentTarget }) => {
          void attach([...(currentTarget.files ?? [])]);
          // Reset, so that the same file can be chosen again.
          currentTarget.value = '';
        }}
      />
    </>
  );
}

interface AttachedShape {
  readonly files: readonly RawPart[];
  readonly remove: (at: number) => void;
}

function Attached({ files, remove }: AttachedShape) {
  if (files.length === 0) return null;
  return (
    <ul class="attached" aria-label="Attached files">
      {files.map((file, at) => (
        <li key={at} class="attached-file">
          <bdi>{shownName(file.filename ?? 'file', 60)}</bdi> <span class="hint">{bytesText(fileBytes(file))}</span>
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${shownName(file.filename ?? 'file', 60)}`}
            onClick={() => remove(at)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Takes files that are dropped anywhere on the page. Returns true while some are over it. */
function useDrop(dropped: (files: FileList) => void): boolean {
  const isOver = useSignal(false);
  const take = useRef(dropped);
  take.current = dropped;
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      // Otherwise the browser would open the file instead of the page.
      event.preventDefault();
      isOver.value = true;
    };
    const drop = (event: DragEvent): void => {
      isOver.value = false;
      if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      take.current(event.dataTransfer.files);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) isOver.value = false;
    };
    document.addEventListener('dragover', over);
    document.addEventListener('drop', drop);
    document.addEventListener('dragleave', leave);
    return () => {
      document.removeEventListener('dragover', over);
      document.removeEventListener('drop', drop);
      document.removeEventListener('dragleave', leave);
    };
  }, [isOver]);
  return isOver.value;
}
