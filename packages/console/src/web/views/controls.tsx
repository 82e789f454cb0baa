import { useSignal } from '@preact/signals';
import type { TaskState } from 'parley-a2a';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { shownJson } from '../shown-name.js';
import { stateName } from '../task-view.js';

/** The state of a task as a coloured label. */
export function StateLabel({ state }: { readonly state: TaskState }) {
  const tone = state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
  return <span class={`state state-${tone}`}>{stateName(state)}</span>;
}

const COPIED_MS = 1_500;

/** A button that copies a text. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const result = useSignal('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      result.value = 'Copied';
    } catch {
      result.value = 'Not copied: the browser refuses';
    }
    setTimeout(() => {
      result.value = '';
    }, COPIED_MS);
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      {result.value === '' ? label : result.value}
    </button>
  );
}

interface FieldFormShape {
  /** True for a text that must be hidden, such as a token. */
  readonly isSecret?: boolean;
  readonly label: string;
  /** The name of its button. */
  readonly action: string;
  readonly give: (text: string) => void;
}

/** A form with one field. It submits the trimmed text, unless that is empty. */
export function FieldForm({ isSecret = false, label, action, give }: FieldFormShape) {
  const text = useSignal('');
  const submit = (event: Event): void => {
    event.preventDefault();
    if (text.value.trim() !== '') give(text.value.trim());
  };
  return (
    <form class="search" onSubmit={submit}>
      <input
        {...(isSecret ? { type: 'password', autocomplete: 'off' } : { type: 'text' })}
        aria-label={label}
        placeholder={label}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
      <button type="submit" class="primary">
        {action}
      </button>
    </form>
  );
}

/** Maximum length of JSON that is shown, because a browser needs seconds for megabytes of text. */
const MOST_CHARACTERS = 100_000;

/** A value as indented JSON. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = shownJson(JSON.stringify(value, undefined, 2) ?? 'undefined');
  const shown = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}\n…` : text;
  return (
    <div class="json">
      <CopyButton text={text} label="Copy JSON" />
      <section class="scroll" aria-label={label} {...focusable}>
        <pre>{shown}</pre>
      </section>
    </div>
  );
}

/** A scrollable region is focusable, so that keys scroll it. */
export const focusable = { tabIndex: 0 };

/** The heading of a page. It gets the focus when the page opens, so that screen readers begin there. */
export function PageTitle({ children }: { readonly children: ComponentChildren }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  return (
    <h1 ref={title} tabIndex={-1}>
      {children}
    </h1>
  );
}

/** A page without content, and the next step. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}

/** A failure, in words. */
export function Failure({ children }: { readonly children: ComponentChildren }) {
  return (
    <p class="failure" role="alert">
      {children}
    </p>
  );
}
