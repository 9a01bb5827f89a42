import { ConfigError } from '../config/errors.ts';
import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';
import { findTurn } from '../find-turn.ts';
import { canAsk, confirm } from '../terminal/ask.ts';
import { oneRow } from '../terminal/rows.ts';

export interface RewindFlags {
  /** The turn's number from the session's beginning, or its id. */
  turn: string;
  dryRun?: boolean;
  yes?: boolean;
}

/**
 * Changes files back to how they were before a turn, after a question unless `yes`, and prints which; with `dryRun` only
 * prints them. Returns 1 if the answer was no.
 */
export async function rewind(
  sessionId: string,
  { turn, dryRun = false, yes = false }: RewindFlags,
  config: Config,
): Promise<number> {
  if (!dryRun && !yes && !canAsk()) {
    throw new ConfigError(
      'Nobody is at the terminal to be asked: rewind with --yes, or --dry-run.',
    );
  }
  const { client, close } = await connect(config);
  const { requests } = client;
  try {
    // It may be one that only an agent's own store has.
    await requests.loadSession(sessionId);
    const turnId = await findTurn(client, sessionId, turn);
    const { files } = await requests.rewind(sessionId, turnId, { dryRun: true });
    for (const file of files) console.log(oneRow(file));
    if (files.length === 0) console.error('No file that the agent edited differs from then.');
    if (dryRun || files.length === 0) return 0;
    const what = files.length === 1 ? 'this file' : `these ${files.length} files`;
    const isSure = yes || (await confirm(`Change ${what} back to before that turn?`));
    if (!isSure) return 1;
    const { skipped = 0 } = await requests.rewind(sessionId, turnId);
    if (skipped > 0) console.error(`${skipped} of them stay as they are: they are links now.`);
    return 0;
  } finally {
    await close();
  }
}
