import { useSignal } from '@preact/signals';
import type { Part } from 'parley-a2a';
import { useMemo } from 'preact/hooks';
import { answerOf, type FormField, fieldsOf } from '../form-fields.js';
import {
  type AskedAuthorization,
  type AskedCall,
  type AskedForm,
  answerPart,
  decisionPart,
  type Question,
} from '../questions.js';
import { agoOf, shownName, shownText } from '../shown-name.js';
import { Failure, Json } from './controls.js';
import { OutsideLink } from './markdown.js';
import { Parts } from './parts.js';

/** Sends an answer. The text shows the user what was sent. */
export type SendAnswer = (text: string, parts: readonly Part[]) => void;

interface QuestionsShape {
  readonly questions: readonly Question[];
  readonly send: SendAnswer;
}

/** The questions of a task: calls to approve, forms and links. */
export function Questions({ questions, send }: QuestionsShape) {
  return (
    <div class="questions">
      {questions.map((question) => {
        if (question.kind === 'approval') return <Approval key={question.callId} call={question} send={send} />;
        if (question.kind === 'form') return <Form key={question.id} form={question} send={send} />;
        return <Authorization key={question.url} asked={question} />;
      })}
    </div>
  );
}

interface AskedTextShape {
  readonly parts: readonly Part[];
  readonly questions: readonly Question[];
}

/** The text of a question. It is folded if buttons or a form ask the same. */
export function AskedText({ parts, questions }: AskedTextShape) {
  if (!questions.some(({ kind }) => kind !== 'authorization')) return <Parts parts={parts} />;
  return (
    <details class="fold">
      <summary>The question as text</summary>
      <Parts parts={parts} />
    </details>
  );
}

function Approval({ call, send }: { readonly call: AskedCall; readonly send: SendAnswer }) {
  const { tool, input, reason, expiresAt } = call;
  const name = shownName(tool, 60);
  return (
    <section class="question" aria-label={`Approval of ${name}`}>
      <p>
        The agent wants to call <code>{name}</code> with these arguments:
      </p>
      <Json value={input ?? null} label={`Arguments of ${name}`} />
      {reason !== undefined && <p dir="auto">{shownText(reason.slice(0, 2_000))}</p>}
      <p class="actions">
        <button type="button" class="primary" onClick={() => send(`Approve ${name}`, [decisionPart(call, 'approve')])}>
          Approve
        </button>
        <button type="button" onClick={() => send(`Refuse ${name}`, [decisionPart(call, 'refuse')])}>
          Refuse
        </button>
        {expiresAt !== undefined && <Expiry at={expiresAt} />}
      </p>
    </section>
  );
}

function Form({ form, send }: { readonly form: AskedForm; readonly send: SendAnswer }) {
  const fields = useMemo(() => fieldsOf(form.schema), [form.schema]);
  const texts = useSignal<readonly string[]>(fields.map(({ initial }) => initial));
  const failure = useSignal<string | undefined>(undefined);
  const submit = (event: Event): void => {
    event.preventDefault();
    try {
      const value = answerOf(fields, texts.value);
      send(fields.length === 0 ? 'Yes' : shownAnswer(value), [answerPart(form, value)]);
    } catch (error) {
      failure.value = (error as Error).message;
    }
  };
  const id = `question-${form.id}`;
  return (
    <form class="question" onSubmit={submit} aria-label={shownName(form.message, 100)}>
      <p dir="auto">{shownText(form.message.slice(0, 4_000))}</p>
      {fields.map((field, at) => (
        <Field
          key={field.name ?? ''}
          id={`${id}-${at}`}
          field={field}
          text={texts.value[at] ?? ''}
          change={(text) => {
            texts.value = texts.value.with(at, text);
          }}
        />
      ))}
      {failure.value !== undefined && <Failure>{failure.value}</Failure>}
      <p class="actions">
        <button type="submit" class="primary">
          {fields.length === 0 ? 'Accept' : 'Send the answer'}
        </button>
        {form.tool !== undefined && (
          <button type="button" onClick={() => send('Declined', [answerPart(form, undefined)])}>
            Decline
          </button>
        )}
      </p>
    </form>
  );
}

interface FieldShape {
  readonly id: string;
  readonly field: FormField;
  readonly text: string;
  readonly change: (text: string) => void;
}

function Field(shape: FieldShape) {
  const { id, field, text, change } = shape;
  const { title, hint, isRequired, kind } = field;
  const described = hint === undefined ? undefined : `${id}-hint`;
  if (kind === 'boolean') {
    return (
      <label class="check">
        <input
          type="checkbox"
          checked={text === 'true'}
          aria-describedby={described}
          onChange={({ currentTarget }) => change(String(currentTarget.checked))}
        />
        {shownName(title)}
        {hint !== undefined && (
          <span class="hint" id={described}>
            {shownText(hint.slice(0, 500))}
          </span>
        )}
      </label>
    );
  }
  return (
    <div class="field">
      <label for={id}>
        {shownName(title)}
        {isRequired ? '' : ' (optional)'}
      </label>
      <Input {...shape} describedBy={described} />
      {hint !== undefined && (
        <span class="hint" id={described}>
          {shownText(hint.slice(0, 500))}
        </span>
      )}
    </div>
  );
}

function Input({ id, field, text, change, describedBy }: FieldShape & { readonly describedBy: string | undefined }) {
  const { kind, choices, isRequired, schema } = field;
  const shared = { id, value: text, required: isRequired, 'aria-describedby': describedBy };
  const number = (name: string) => (typeof schema[name] === 'number' ? schema[name] : undefined);
  if (kind === 'choice') {
    return (
      <select {...shared} onChange={({ currentTarget }) => change(currentTarget.value)}>
        <option value="">Choose</option>
        {choices.map(({ title }, at) => (
          <option key={at} value={String(at)}>
            {shownName(title)}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'json') {
    return (
      <textarea {...shared} placeholder="JSON" rows={2} onInput={({ currentTarget }) => change(currentTarget.value)} />
    );
  }
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => change(currentTarget.value);
  if (kind === 'number') {
    const step = schema.type === 'integer' ? 1 : 'any';
    return (
      <input {...shared} type="number" min={number('minimum')} max={number('maximum')} step={step} onInput={onInput} />
    );
  }
  if (schema.format === 'date') return <input {...shared} type="date" onInput={onInput} />;
  return (
    <input {...shared} type="text" minLength={number('minLength')} maxLength={number('maxLength')} onInput={onInput} />
  );
}

function Authorization({ asked: { url, scopes, expiresAt } }: { readonly asked: AskedAuthorization }) {
  const host = URL.parse(url)?.host ?? url;
  return (
    <section class="question" aria-label="Authorization">
      <p>
        Authorize the agent at <code>{shownName(host, 100)}</code>. This page goes on by itself once you have.
      </p>
      {scopes.length > 0 && <p>It asks for: {shownName(scopes.join(', '), 300)}</p>}
      <p class="actions">
        <OutsideLink url={url}>Open the authorization</OutsideLink>
        {expiresAt !== undefined && <Expiry at={expiresAt} />}
      </p>
    </section>
  );
}

function Expiry({ at }: { readonly at: string }) {
  const isOver = Date.parse(at) < Date.now();
  return (
    <span class="hint">{isOver ? `Expired ${agoOf(at, Date.now())}` : `Until ${new Date(at).toLocaleString()}`}</span>
  );
}

function shownAnswer(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${typeof member === 'string' ? member : JSON.stringify(member)}`)
    .join('\n');
}
