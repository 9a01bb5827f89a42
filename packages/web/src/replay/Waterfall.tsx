import type { Span } from '@liminal/protocol';
import { ChevronDown, ChevronLeft, ChevronRight } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Disclosure } from '../look/Disclosure.tsx';
import { IconButton, joinClasses } from '../look/controls.tsx';
import { duration } from '../words/time.ts';
import { type RecordedRun, spansOf } from './recording.ts';
import type { Playback } from './use-playback.ts';
import css from './Waterfall.module.css';
import { labelOf } from '../words/label.ts';

interface WaterfallProps {
  runs: readonly RecordedRun[];
  /** The index of the turn at the present moment. */
  index: number;
  playback: Playback;
}

/**
 * Shows the spans of a turn, with a line at the present moment. A press on a span moves the playback to the span's
 * beginning.
 */
export function Waterfall({ runs, index, playback }: WaterfallProps) {
  // On a narrow page, the waterfall is closed at first, because it takes room from the conversation.
  const [isOpen, setOpen] = useState(() => window.innerWidth > 900);
  const run = runs[index];
  if (run === undefined) return null;
  const goTo = (other: RecordedRun | undefined) => {
    if (other !== undefined) playback.go(other.from + 1);
  };
  return (
    <section className={css.panel} data-open={isOpen} aria-label="Spans">
      <header className={css.head}>
        <Disclosure className={css.title} isOpen={isOpen} onToggle={() => setOpen(!isOpen)}>
          <ChevronDown size={14} aria-hidden="true" className={css.chevron} />
          Timeline, turn {index + 1} of {runs.length}
        </Disclosure>
        <IconButton
          label="Turn before"
          disabled={index === 0}
          onClick={() => goTo(runs[index - 1])}
        >
          <ChevronLeft size={16} />
        </IconButton>
        <IconButton
          label="Next turn"
          disabled={index === runs.length - 1}
          onClick={() => goTo(runs[index + 1])}
        >
          <ChevronRight size={16} />
        </IconButton>
      </header>
      {isOpen && <Spans run={run} playback={playback} />}
    </section>
  );
}

function Spans({ run, playback }: { run: RecordedRun; playback: Playback }) {
  const { timeline, place, seek } = playback;
  const spans = useMemo(() => withDepth(spansOf(run)), [run]);
  const from = timeline.positionAfter(run.from + 1);
  const length = Math.max(1, timeline.positionAfter(run.to + 1) - from);
  const percent = (at: number) => Math.max(0, Math.min(100, ((at - from) / length) * 100));
  const list = useRef<HTMLOListElement>(null);
  const now = spans.findLastIndex(({ span }) => timeline.positionOf(span.startedAt) <= place);
  useEffect(() => {
    // Scroll the list, but not the page, to the newest span.
    const row = list.current?.children[now];
    const scroller = list.current?.parentElement?.parentElement;
    if (!(row instanceof HTMLElement) || !scroller) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    const end = scroller.scrollTop + scroller.clientHeight;
    if (bottom > end) scroller.scrollTop = bottom - scroller.clientHeight;
  }, [now]);
  return (
    <div className={css.scroller}>
      <div className={css.spans}>
        <div className={css.moment} aria-hidden="true">
          <span style={{ left: `${percent(place)}%` }} />
        </div>
        <ol ref={list}>
          {spans.map(({ span, depth }) => {
            const [left, right] = [span.startedAt, span.endedAt].map((at) =>
              percent(timeline.positionOf(at)),
            );
            const hasBegun = timeline.positionOf(span.startedAt) <= place;
            return (
              <li key={span.spanId}>
                <button
                  type="button"
                  className={joinClasses(css.span, hasBegun && css.begun)}
                  data-failed={span.hasFailed}
                  title={`${labelOf(span.name)}, ${duration(span.endedAt - span.startedAt)}: go to its beginning`}
                  onClick={() => seek(timeline.positionOf(span.startedAt))}
                >
                  <span className={css.name} style={{ paddingInlineStart: `${depth * 12}px` }}>
                    {span.name}
                    {span.hasFailed && <span className={css.failed}> failed</span>}
                  </span>
                  <span className={css.took}>{duration(span.endedAt - span.startedAt)}</span>
                  <span className={css.track} aria-hidden="true">
                    <span
                      className={css.bar}
                      style={{
                        left: `${left}%`,
                        width: `${Math.max(0, (right ?? 0) - (left ?? 0))}%`,
                      }}
                    />
                  </span>
                </button>
              </li>
            );
          })}
        </ol>
      </div>
    </div>
  );
}

/** Returns each span after its parent span, with its depth. */
function withDepth([turn, ...rest]: readonly Span[]): { span: Span; depth: number }[] {
  if (turn === undefined) return [];
  const below = Map.groupBy(rest, ({ parentSpanId }) => parentSpanId);
  const lay = (span: Span, depth: number): { span: Span; depth: number }[] => [
    { span, depth },
    ...(below.get(span.spanId) ?? []).flatMap((one) => lay(one, depth + 1)),
  ];
  return lay(turn, 0);
}
