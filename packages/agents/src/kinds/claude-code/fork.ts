/** Forks of stored conversations, made by the SDK in Claude Code's own store. Starts no process. */
import { z } from 'zod';
import type { StoredFork } from '../../contract/provider.ts';
import { readConversation } from './history.ts';
import { readRaw } from './raw-transcript.ts';
import { loadSdk } from './sdk.ts';
import { endOfTurn } from './translate/transcript-turns.ts';

const Copied = z.looseObject({
  uuid: z.string(),
  forkedFrom: z.looseObject({ messageUuid: z.string() }),
});

const Cleared = z.looseObject({
  message: z.looseObject({ content: z.string().regex(/^<command-name>\/clear</) }),
});

/**
 * Returns whether the stored conversation began with `/clear`, so that the session's earlier turns are in another
 * conversation.
 */
export async function isAfterClear(sessionId: string, projectDir: string): Promise<boolean> {
  const { entries = [] } = (await readRaw(sessionId, projectDir)) ?? {};
  return entries.some((entry) => Cleared.safeParse(entry).success);
}

/** Copies a conversation up to the end of a turn; undefined if that turn is not stored. */
export async function forkStored(
  sessionId: string,
  projectDir: string,
  turnId: string,
): Promise<StoredFork | undefined> {
  const raw = await readRaw(sessionId, projectDir);
  const conversation = await readConversation(sessionId, projectDir);
  if (raw === undefined || conversation === undefined) return undefined;
  const { main, branches } = conversation;
  const upToMessageId = [main, ...branches.map(({ entries }) => entries)]
    .map((entries) => endOfTurn(entries, turnId))
    .findLast((end) => end !== undefined);
  if (upToMessageId === undefined) return undefined;
  const { forkSession } = await loadSdk();
  const fork = await forkSession(sessionId, { dir: projectDir, upToMessageId });
  const copied = ((await readRaw(fork.sessionId, projectDir))?.entries ?? []).flatMap((entry) => {
    const { uuid, forkedFrom } = Copied.safeParse(entry).data ?? {};
    return uuid === undefined || forkedFrom === undefined
      ? []
      : [[forkedFrom.messageUuid, uuid] as const];
  });
  const copies = new Map(copied);
  const left = new Set(raw.entries.map(({ uuid }) => uuid).filter((uuid) => !copies.has(uuid)));
  return { agentSessionId: fork.sessionId, copies, left };
}
