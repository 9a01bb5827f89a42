import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/load.ts';
import { writeServerFile } from '../data/server-file.ts';
import { usingDataDir } from '../data/using-data-dir.ts';
import { logConsole } from '../log-console.ts';
import { type Liminal, startLiminal } from '../start-liminal.ts';
import { hasDesktop, openInBrowser } from '../terminal/browser.ts';
import { aborted, endSignals } from '../terminal/end-signals.ts';

/** How long turns may take to end before people are told that they are waited for, ms. */
const TELL_MS = 200;

/**
 * Runs the server until a signal ends it. Turns under way may then go on for `endLimitMs`; the next signal ends them at
 * once, and the one after that the process.
 */
export async function serve(config: Config): Promise<number> {
  const [told, again, oncemore] = endSignals();
  const liminal = await startLiminal(config);
  const { logger, url, token, newLink, close } = liminal;
  const endLoggedConsole = logConsole(logger);
  const { dataDir } = config;
  const removeServerFile = await usingDataDir(dataDir, () =>
    writeServerFile(dataDir, { url, token }),
  );
  console.log(`Liminal is at ${newLink()}`);
  // A link opens once, and other users can read a program's arguments: the browser gets a link of its own.
  if (config.open && hasDesktop(process.env)) await openInBrowser(newLink());

  await aborted(told);
  await finishTurns(liminal, config.endLimitMs, again);
  void aborted(again.aborted ? oncemore : again).then(() => process.exit(130));
  removeServerFile();
  await close();
  endLoggedConsole();
  return 0;
}

async function finishTurns(
  { finish }: Liminal,
  limitMs: number,
  hurry: AbortSignal,
): Promise<void> {
  const finished = finish(AbortSignal.any([hurry, AbortSignal.timeout(limitMs)]));
  const isSoon = await Promise.race([finished.then(() => true), delay(TELL_MS, false)]);
  if (isSoon) return;
  const seconds = Math.ceil(limitMs / 1_000);
  // For people: `console.error` would log it.
  process.stderr.write(
    `Turns are under way: they have ${seconds} s to end by themselves. Another Ctrl+C ends them now.\n`,
  );
  await finished;
}
