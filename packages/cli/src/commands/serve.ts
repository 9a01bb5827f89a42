import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/load.ts';
import { writeServerFile } from '../data/server-file.ts';
import { usingDataDir } from '../data/using-data-dir.ts';
import { logConsole } from '../log-console.ts';
import { type Liminal, startLiminal } from '../start-liminal.ts';
import { hasDesktop, openInBrowser } from '../terminal/browser.ts';

/** Signals that ask a program to end: Ctrl+C, a service manager, a closed terminal. */
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The delay before the terminal reports that the server is waiting for turns to end, in ms. */
const noticeDelayMs = 200;

/**
 * Runs the server until a signal. After the first signal, running turns may continue for `endLimitMs`. The second
 * signal stops running turns at once, and the third signal ends the process.
 */
export async function serve(config: Config): Promise<number> {
  const [firstSignal, secondSignal, thirdSignal] = endSignals();
  const liminal = await startLiminal(config);
  const { logger, url, token, newLink, close } = liminal;
  const endLoggedConsole = logConsole(logger);
  const { dataDir } = config;
  const removeServerFile = await usingDataDir(dataDir, () =>
    writeServerFile(dataDir, { url, token }),
  );
  console.log(`Liminal is at ${newLink()}`);
  // Each sign-in link works only once. Other users can read the browser's arguments, so the browser gets a link other
  // than the printed one.
  if (config.open && hasDesktop(process.env)) await openInBrowser(newLink());

  await aborted(firstSignal);
  await finishTurns(liminal, config.endLimitMs, secondSignal);
  void aborted(secondSignal.aborted ? thirdSignal : secondSignal).then(() => process.exit(130));
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
  const isSoon = await Promise.race([finished.then(() => true), delay(noticeDelayMs, false)]);
  if (isSoon) return;
  const seconds = Math.ceil(limitMs / 1_000);
  // People read this line, so it is not written with `console.error`, which goes to the log.
  process.stderr.write(
    `Turns are still running: they have ${seconds} s to finish. Press Ctrl+C again to stop them now.\n`,
  );
  await finished;
}

/**
 * Returns three abort signals. After this call, the signals of the system no longer end the process by themselves: the
 * first one aborts the first result, the second one the second, and so on.
 */
function endSignals(): [first: AbortSignal, second: AbortSignal, third: AbortSignal] {
  const stages = [new AbortController(), new AbortController(), new AbortController()] as const;
  const left = [...stages];
  for (const name of names) process.on(name, () => left.shift()?.abort());
  const [first, second, third] = stages;
  return [first.signal, second.signal, third.signal];
}

/** Resolves when the signal aborts. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
