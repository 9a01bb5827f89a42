import { createClient } from '@liminal/client';
import { LiminalError } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { findServer } from '../data/server-file.ts';
import { runningServer } from '../running-server.ts';

export interface NotifyFlags {
  turn?: string;
}

/** The last argument that Codex passes to its `notify` program; measured with 0.169. */
const CodexEvent = z.looseObject({
  type: z.string(),
  'thread-id': z.string().min(1).optional(),
  'turn-id': z.string().min(1).optional(),
});

/**
 * Errors that are expected after a notification from Codex: the turn has already ended, or was made in Codex's own
 * terminal.
 */
const ordinary: ReadonlySet<string> = new Set(['NOTHING_TO_END', 'SESSION_NOT_FOUND']);

/**
 * Ends the running turn of a session as complete, and prints the turn's id. `what` is the session's id, or Codex's
 * notification. Codex calls `notify` after every turn, so this command prints nothing and starts no server if no turn
 * needs to be ended.
 */
export async function notify(what: string, flags: NotifyFlags, config: Config): Promise<number> {
  if (what.trimStart().startsWith('{')) return codexNotifies(readEvent(what), config);
  const { turn: turnId } = flags;
  return endTurn(what, turnId === undefined ? {} : { turnId }, config);
}

async function codexNotifies(event: z.infer<typeof CodexEvent>, config: Config): Promise<number> {
  const { 'thread-id': thread, 'turn-id': agentTurnId } = event;
  const isEnd = event.type === 'agent-turn-complete';
  // Both ids are required: without the turn's id, a later turn might be ended.
  if (!isEnd || thread === undefined || agentTurnId === undefined) return 0;
  if ((await findServer(config.dataDir)) === undefined) return 0;
  try {
    return await endTurn(thread, { agentTurnId }, config);
  } catch (error) {
    if (error instanceof LiminalError && ordinary.has(error.code)) return 0;
    throw error;
  }
}

async function endTurn(
  session: string,
  which: { turnId?: string; agentTurnId?: string },
  config: Config,
): Promise<number> {
  const { url, token } = await runningServer(config);
  const client = createClient({ baseUrl: url, token });
  try {
    const { turnId } = await client.requests.notify(session, which);
    console.log(turnId);
    return 0;
  } finally {
    client.close();
  }
}

function readEvent(text: string): z.infer<typeof CodexEvent> {
  try {
    return CodexEvent.parse(JSON.parse(text));
  } catch (error) {
    throw errors.INVALID_CONFIG.notification({ cause: error });
  }
}
