import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { clockTime, shownName } from '../shown-name.js';
import { eventKind, eventLine, eventTime } from '../task-view.js';
import type { TimelineEvent } from '../task-watch.js';
import { focusable, Json } from './controls.js';

/** The height of a row in pixels, as in the style. With equal heights the list can show any number of events. */
const ROW = 36;
/** Number of rows rendered outside of the visible part, on each side. */
const BESIDE = 10;

interface EventListShape {
  /** The latest events. The list is mutated. */
  readonly events: readonly TimelineEvent[];
  /** The number of all events, with those before the list. */
  readonly count: number;
}

/** The events of a task. Only visible rows are rendered. */
export function EventList({ events, count: all }: EventListShape) {
  const count = events.length;
  const before = all - count;
  const top = useSignal(0);
  const height = useSignal(12 * ROW);
  const chosen = useSignal<TimelineEvent | undefined>(undefined);
  const list = useRef<HTMLElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    height.value = element.clientHeight;
    if (follows.current) element.scrollTop = element.scrollHeight;
  }, [all]);
  const first = Math.max(0, Math.floor(top.value / ROW) - BESIDE);
  const last = Math.min(count, Math.ceil((top.value + height.value) / ROW) + BESIDE);
  const detail = chosen.value;
  const handleScroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = list.current ?? {};
    top.value = scrollTop;
    follows.current = scrollHeight - scrollTop - clientHeight < ROW;
  };
  return (
    <div class="timeline">
      <section class="events" ref={list} onScroll={handleScroll} aria-label="Events" {...focusable}>
        <ol style={{ height: `${count * ROW}px` }}>
          {events.slice(first, last).map((one, at) => (
            <Row
              key={before + first + at}
              place={first + at}
              count={count}
              event={one}
              isChosen={chosen.value === one}
              choose={() => {
                chosen.value = chosen.value === one ? undefined : one;
              }}
            />
          ))}
        </ol>
      </section>
      {detail !== undefined && (
        <div class="event-detail">
          <Json value={detail.event} label="Chosen event" />
        </div>
      )}
    </div>
  );
}

interface RowShape {
  readonly place: number;
  readonly count: number;
  readonly event: TimelineEvent;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

function Row({ place, count, event: { event, sequence, seenAt, isOld }, isChosen, choose }: RowShape) {
  const given = eventTime(event);
  const time = given ?? (isOld ? undefined : seenAt);
  const kind = eventKind(event);
  return (
    <li style={{ transform: `translateY(${place * ROW}px)` }} aria-setsize={count} aria-posinset={place + 1}>
      <button type="button" class={`event event-${kind}`} aria-expanded={isChosen} onClick={choose}>
        <span class="event-number">{sequence ?? '·'}</span>
        <span
          class="event-time"
          title={given === undefined ? 'The time at which this page got the event' : 'The time that the agent gave'}
        >
          {time === undefined ? '–' : clockTime(time)}
        </span>
        <span class="event-kind">{kind}</span>
        <bdi class="event-line">{shownName(eventLine(event), 240)}</bdi>
      </button>
    </li>
  );
}
