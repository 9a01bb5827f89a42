import { ChevronLeft, ChevronRight, Pause, Play } from 'lucide-react';
import { type CSSProperties, useEffect } from 'react';
import { isTyping } from '../app/typing.ts';
import { Button, IconButton } from '../look/controls.tsx';
import css from './Controls.module.css';
import type { Recording } from './recording.ts';
import { type Playback, type Speed, speeds } from './use-playback.ts';

interface ControlsProps {
  recording: Recording;
  playback: Playback;
}

const speedNames: Record<Speed, string> = {
  '0.5': '0.5×',
  '1': '1×',
  '2': '2×',
  '10': '10×',
  max: 'max',
};

/** Shows the timeline with a slider, and the buttons that play it. */
export function Controls({ recording, playback }: ControlsProps) {
  const { count, place, timeline, isPlaying, speed, playsFullPauses } = playback;
  const { steps } = recording;
  useReplayKeys(playback, steps.length);
  const step = steps[count - 1];
  const words = step === undefined ? `0 of ${steps.length}` : `event ${count} of ${steps.length}`;
  const type = step?.event.type ?? '';
  return (
    <footer className={css.controls}>
      <input
        className={css.slider}
        type="range"
        min={0}
        max={Math.max(1, timeline.length)}
        step="any"
        value={place}
        style={{ '--done': `${(place / Math.max(1, timeline.length)) * 100}%` } as CSSProperties}
        aria-label="Place in the recording"
        aria-valuetext={`${words} ${type}, ${clock(place)} of ${clock(timeline.length)}`}
        onChange={(event) => playback.seek(event.target.valueAsNumber)}
      />
      <div className={css.row}>
        <div className={css.buttons}>
          <IconButton label="One event back (←)" onClick={() => playback.go(count - 1)}>
            <ChevronLeft size={18} />
          </IconButton>
          <Button
            look="primary"
            className={css.play}
            aria-label={isPlaying ? 'Pause' : 'Play'}
            title={isPlaying ? 'Pause (space)' : 'Play (space)'}
            onClick={playback.toggle}
          >
            {isPlaying ? <Pause size={16} /> : <Play size={16} />}
          </Button>
          <IconButton label="One event on (→)" onClick={() => playback.go(count + 1)}>
            <ChevronRight size={18} />
          </IconButton>
        </div>
        <label className={css.speed}>
          Speed
          <select
            value={speed}
            onChange={(event) => {
              const chosen = speeds.find((one) => one === event.target.value);
              if (chosen !== undefined) playback.setSpeed(chosen);
            }}
          >
            {speeds.map((one) => (
              <option key={one} value={one}>
                {speedNames[one]}
              </option>
            ))}
          </select>
        </label>
        <label className={css.silences}>
          <input
            type="checkbox"
            checked={playsFullPauses}
            onChange={(event) => playback.setPlaysFullPauses(event.target.checked)}
          />
          Include long pauses
        </label>
        <p className={css.now} data-count={count}>
          <span>{words}</span>
          <code>{type}</code>
          <time>{step === undefined ? '' : new Date(step.at).toLocaleTimeString()}</time>
          <span>
            {clock(place)} / {clock(timeline.length)}
          </span>
        </p>
      </div>
    </footer>
  );
}

/** `1:02.5` */
function clock(ms: number): string {
  const seconds = ms / 1000;
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(Math.floor((seconds - minutes * 60) * 10) / 10).toFixed(1).padStart(4, '0')}`;
}

/**
 * Handles the keys: ← and → step by events, also in the slider; space plays and pauses; Home and End go to the start
 * and the end.
 */
function useReplayKeys({ count, go, toggle }: Playback, total: number): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const isSlider = target instanceof HTMLInputElement && target.type === 'range';
      if (isTyping(target) && !isSlider) return;
      const isPressed = target instanceof HTMLElement && target.closest('button, a') !== null;
      const action = {
        ArrowLeft: () => go(count - 1),
        ArrowRight: () => go(count + 1),
        Home: () => go(0),
        End: () => go(total),
        // While a button has the focus, the space key presses this button.
        ...(!isPressed && { ' ': toggle }),
      }[key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [count, go, toggle, total]);
}
