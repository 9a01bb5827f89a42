import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Step } from './recording.ts';
import { Timeline } from './timeline.ts';

/** Times as fast as it was; `max` plays all of it in about two seconds. */
export const speeds = ['0.5', '1', '2', '10', 'max'] as const;
export type Speed = (typeof speeds)[number];

/** Frames in which `max` plays everything. */
const FRAMES = 120;

export interface Playback {
  timeline: Timeline;
  /** How many steps have been made. */
  count: number;
  /** Where that is on the timeline (ms); between two steps while it plays. */
  place: number;
  isPlaying: boolean;
  speed: Speed;
  keepsSilences: boolean;
  toggle: () => void;
  setSpeed: (speed: Speed) => void;
  setKeepsSilences: (keeps: boolean) => void;
  /** To a place on the timeline. */
  seek: (place: number) => void;
  /** To after so many steps. */
  go: (count: number) => void;
}

/** Plays steps by the clock. */
export function usePlayback(steps: readonly Step[]): Playback {
  const [keepsSilences, setKeeps] = useState(false);
  const [speed, setSpeed] = useState<Speed>('1');
  const [isPlaying, setPlaying] = useState(false);
  const timeline = useMemo(() => new Timeline(steps, keepsSilences), [steps, keepsSilences]);
  const [{ count, place }, setAt] = useState({ count: 0, place: 0 });
  const total = steps.length;

  const go = useCallback(
    (to: number) => {
      const within = Math.max(0, Math.min(to, total));
      setAt({ count: within, place: timeline.placeAfter(within) });
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
  const setKeepsSilences = useCallback(
    (keeps: boolean) => {
      setKeeps(keeps);
      setAt((now) => ({
        ...now,
        place: new Timeline(steps, keeps).placeAfter(now.count),
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
          const next = Math.min(total, now.count + Math.ceil(total / FRAMES));
          return { count: next, place: timeline.placeAfter(next) };
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
    keepsSilences,
    toggle,
    setSpeed,
    setKeepsSilences,
    seek,
    go,
  };
}
