import type { RewindResult, RewindScope } from '@liminal/protocol';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';
import { findTurn } from '../find-turn.ts';
import { canAsk, confirm } from '../terminal/ask.ts';
import { oneRow } from '../terminal/rows.ts';

export interface RewindFlags {
  /** The number of the turn, counted from the session's beginning, or the turn's id. */
  turn: string;
  scope?: RewindScope;
  /** The message to send after the conversation was rewound. */
  send?: string;
  dryRun?: boolean;
  yes?: boolean;
}

/**
 * Restores files, the conversation, or both to their state before a turn, and prints the files. Asks for confirmation
 * first unless `yes` is set; returns 1 if the person answers no. With `dryRun`, only prints what would change.
 */
export async function rewind(
  sessionId: string,
  { turn, scope = 'files', send, dryRun = false, yes = false }: RewindFlags,
  config: Config,
): Promise<number> {
  if (send !== undefined && scope === 'files') {
    throw errors.INVALID_CONFIG.sendAfterFiles();
  }
  if (!dryRun && !yes && !canAsk()) {
    throw errors.INVALID_CONFIG.noTerminal('--yes or --dry-run');
  }
  const { client, close } = await connectTo(sessionId, config);
  const { requests } = client;
  try {
    const turnId = await findTurn(client, sessionId, turn);
    const planned = await requests.rewind(sessionId, turnId, { scope, dryRun: true });
    const { files, takenBack } = planned;
    for (const file of files) console.log(oneRow(file));
    if (files.length === 0 && scope !== 'conversation') {
      console.error('No file that the agent edited has changed since.');
    }
    if (dryRun && takenBack) console.error(`${turns(takenBack)} would be taken back.`);
    if (dryRun || (files.length === 0 && takenBack === undefined)) return 0;
    const isSure = yes || (await confirm(question(planned)));
    if (!isSure) return 1;
    const { skipped = 0, problem, ...done } = await requests.rewind(sessionId, turnId, { scope });
    if (skipped > 0)
      console.error(`Skipped because they are links now: ${skipped} of these files.`);
    if (problem !== undefined) console.error(`The files are not changed. ${problem}`);
    if (done.takenBack) console.error(`${turns(done.takenBack)} taken back.`);
    if (send !== undefined) await requests.send(sessionId, send);
    return problem === undefined ? 0 : 1;
  } finally {
    await close();
  }
}

type TakenBack = NonNullable<RewindResult['takenBack']>;

const turns = ({ turnIds }: TakenBack): string =>
  turnIds.length === 1 ? '1 turn' : `${turnIds.length} turns`;

function question({ files, takenBack }: RewindResult): string {
  const what = files.length === 1 ? 'this file' : `these ${files.length} files`;
  const changed = files.length > 0 && `restore ${what} to the state before that turn`;
  const back = takenBack && `take back ${turns(takenBack)}`;
  const asked = [back, changed].filter(Boolean).join(', and ');
  return `${asked.charAt(0).toUpperCase()}${asked.slice(1)}?`;
}
