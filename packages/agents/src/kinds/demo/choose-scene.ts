import type { Scene } from './script.ts';
import { approve } from './scenes/approve.ts';
import { ask } from './scenes/ask.ts';
import { build } from './scenes/build.ts';
import { error } from './scenes/error.ts';
import { explain } from './scenes/explain.ts';
import { fix } from './scenes/fix.ts';
import { long } from './scenes/long.ts';
import { plan } from './scenes/plan.ts';
import { slow } from './scenes/slow.ts';
import { subagent } from './scenes/subagent.ts';
import { tour } from './scenes/tour.ts';

/** The order in which scenes are played for messages that do not ask for a scene. */
const cycle: readonly Scene[] = [fix, plan, approve, ask, build, subagent, explain, long];

export const scenes: readonly Scene[] = [tour, ...cycle, slow, error];

/**
 * Returns the scene that the message asks for. If it asks for none, returns the tour in the first turn, then the scenes
 * of `cycle` in order.
 * @param turns - The number of earlier turns.
 */
export function chooseScene(message: string, turns: number): Scene {
  const words = message.toLowerCase().match(/[a-z]+/g) ?? [];
  const asked = scenes.find((scene) =>
    scene.words.some((wanted) => words.some((word) => word.startsWith(wanted))),
  );
  if (asked) return asked;
  return (turns === 0 ? undefined : cycle[(turns - 1) % cycle.length]) ?? tour;
}
