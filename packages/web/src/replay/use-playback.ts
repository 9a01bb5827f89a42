import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { RecordedStep } from './recording.ts';
import { Timeline } from './timeline.ts';

/** The playback speeds, as multiples of real time; `max` plays everything in about two seconds. */
export const speeds = ['0.5', '1', '2', '10', 'max'] as const;
export type Speed = (typeof speeds)[number];

/** The number of frames in which `max` plays everything. */
const frames = 120;

export interface Playback {
  timeline: Timeline;
  /** The number of steps that have been played. */
  count: number;
  /** The current position on the timeline, in ms. During playback, the position can be between two steps. */
  place: number;
  isPlaying: boolean;
  speed: Speed;
  playsFullPauses: boolean;
  toggle: () => void;
  setSpeed: (speed: Speed) => void;
  setPlaysFullPauses: (isOn: boolean) => void;
  /** Moves the playback to a position on the timeline (ms). */
  seek: (place: number) => void;
  /** Moves the playback to the position after `count` steps. */
  go: (count: number) => void;
}

/** Plays steps in real time, multiplied by the speed. */
export function usePlayback(steps: readonly RecordedStep[]): Playback {
  const [playsFullPauses, setKeeps] = useState(false);
  const [speed, setSpeed] = useState<Speed>('1');
  const [isPlaying, setPlaying] = useState(false);
  const timeline = useMemo(() => new Timeline(steps, playsFullPauses), [steps, playsFullPauses]);
  const [{ count, place }, setAt] = useState({ count: 0, place: 0 });
  const total = steps.length;

  const go = useCallback(
    (to: number) => {
      const within = Math.max(0, Math.min(to, total));
      setAt({ count: within, place: timeline.positionAfter(within) });
    },
    [timeline, total],
  );
  const seek = useCallback(
    (to: number) => {
      const within = Math.max(0, Math.min(to, timeline.length));
      setAt({ count: timeline.countAt(within), place: within });
    },
    [timeline],
  );
  const isOver = count >= total;
  const toggle = useCallback(() => {
    if (isOver) go(0);
    setPlaying((playing) => isOver || !playing);
  }, [go, isOver]);
  const setPlaysFullPauses = useCallback(
    (isOn: boolean) => {
      setKeeps(isOn);
      setAt((now) => ({
        ...now,
        place: new Timeline(steps, isOn).positionAfter(now.count),
      }));
    },
    [steps],
  );

  const runs = isPlaying && !isOver;
  const last = useRef(0);
  useEffect(() => {
    if (!runs) return undefined;
    last.current = performance.now();
    let frame = 0;
    const tick = (time: number) => {
      const passed = Math.max(0, time - last.current);
      last.current = time;
      setAt((now) => {
        if (speed === 'max') {
          const next = Math.min(total, now.count + Math.ceil(total / frames));
          return { count: next, place: timeline.positionAfter(next) };
        }
        const next = Math.min(now.place + passed * Number(speed), timeline.length);
        return { count: Math.max(now.count, timeline.countAt(next)), place: next };
      });
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [runs, speed, timeline, total]);

  return {
    timeline,
    count,
    place,
    isPlaying: runs,
    speed,
    playsFullPauses,
    toggle,
    setSpeed,
    setPlaysFullPauses,
    seek,
    go,
  };
}
