import type { ToolCallUpsert } from '@liminal/protocol';
import { useEffect } from 'react';
import { useRemembered } from './remembered.ts';
import type { ToolPhase } from './tool-outcome.ts';

/** A program that runs this long (ms) is shown live; for a shorter one, its line is enough. */
const longEnough = 1_000;

/** Whether a program that runs now has output and keeps running for a while. It stays true when the program ends. */
export function useWorthWatching(call: ToolCallUpsert, phase: ToolPhase): boolean {
  const [isWorth, setWorth] = useRemembered('worth watching', false);
  const hasOutput = call.toolOutput !== undefined && call.toolOutput.trim() !== '';
  const isLive = call.kind === 'execute' && phase === 'running' && hasOutput;
  const { startedAt } = call;
  useEffect(() => {
    if (!isLive) return undefined;
    const ran = startedAt === undefined ? 0 : Date.now() - Date.parse(startedAt);
    const timer = setTimeout(() => setWorth(true), Math.max(0, longEnough - (ran || 0)));
    return () => clearTimeout(timer);
  }, [isLive, setWorth, startedAt]);
  return isWorth;
}
