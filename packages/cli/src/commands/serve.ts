import { once } from 'node:events';
import type { Config } from '../config/load.ts';
import { writeServerFile } from '../data/server-file.ts';
import { usingDataDir } from '../data/using-data-dir.ts';
import { startLiminal } from '../start-liminal.ts';
import { hasDesktop, openInBrowser } from '../terminal/browser.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs the server until a signal ends it; a second signal ends it at once. */
export async function serve(config: Config): Promise<number> {
  const stopped = Promise.race(signals.map((signal) => once(process, signal)));
  const { url, token, newLink, close } = await startLiminal(config);
  const { dataDir } = config;
  const removeServerFile = await usingDataDir(dataDir, () =>
    writeServerFile(dataDir, { url, token, pid: process.pid }),
  );
  console.log(`Liminal is at ${newLink()}`);
  // A link opens once, and other users can read a program's arguments: the browser gets a link of its own.
  if (config.open && hasDesktop(process.env)) await openInBrowser(newLink());

  await stopped;
  for (const signal of signals) process.once(signal, () => process.exit(130));
  removeServerFile();
  await close();
  return 0;
}
