/** A session's file in Claude Code's store, entry by entry, including branches that the conversation has left. */
import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { loadSdk } from './sdk.ts';

const RawEntry = z.looseObject({
  type: z.string(),
  uuid: z.string(),
  parentUuid: z.string().nullish(),
  /** The entry before a summary, which has no parent. */
  logicalParentUuid: z.string().nullish(),
  isSidechain: z.boolean().optional().catch(undefined),
  /** Said in the user's name, only to the model. */
  isMeta: z.boolean().optional().catch(undefined),
});
export type RawEntry = z.infer<typeof RawEntry>;

const LastPrompt = z.looseObject({ type: z.literal('last-prompt'), leafUuid: z.string() });

export interface RawTranscript {
  /** In the order of writing, whichever process wrote them. */
  entries: RawEntry[];
  /** The last place that a process has noted: a resumed Claude Code goes on from there. */
  leaf: string | undefined;
}

export async function readRaw(sessionId: string, projectDir: string): Promise<RawTranscript> {
  const { importSessionToStore } = await loadSdk();
  const entries: SessionStoreEntry[] = [];
  const store = {
    append: async (_key: unknown, batch: SessionStoreEntry[]) => void entries.push(...batch),
    load: async () => null,
  };
  await importSessionToStore(sessionId, store, { dir: projectDir, includeSubagents: false });
  return {
    entries: entries.flatMap((entry) => RawEntry.safeParse(entry).data ?? []),
    leaf: entries.flatMap((entry) => LastPrompt.safeParse(entry).data?.leafUuid ?? []).at(-1),
  };
}

/** Only the entries that lead to a place or go on from it. */
export function throughPlace(entries: readonly RawEntry[], place: string): RawEntry[] {
  const byId = new Map(entries.map((entry) => [entry.uuid, entry]));
  const through = new Set<string>();
  for (let at = byId.get(place); at && !through.has(at.uuid); at = parentOf(byId, at)) {
    through.add(at.uuid);
  }
  const after = new Set([place]);
  for (const entry of entries) {
    const { uuid, parentUuid } = entry;
    if (after.has(parentUuid ?? '')) after.add(uuid);
    else if (isResult(entry) && through.has(parentUuid ?? '')) through.add(uuid);
  }
  return entries.filter(({ uuid }) => through.has(uuid) || after.has(uuid));
}

/**
 * The branches of a conversation outside its main part, each with all entries from the main part to its end, oldest
 * first.
 */
export function branchesOf(entries: readonly RawEntry[], main: ReadonlySet<string>): RawEntry[][] {
  const byId = new Map(entries.map((entry) => [entry.uuid, entry]));
  const covered = new Set<string>();
  const branches: RawEntry[][] = [];
  for (const tip of entries.toReversed()) {
    if (!isSpoken(tip) || main.has(tip.uuid) || covered.has(tip.uuid)) continue;
    const path = new Set<string>();
    for (let at: RawEntry | undefined = tip; at !== undefined && !main.has(at.uuid);) {
      if (path.has(at.uuid)) break;
      path.add(at.uuid);
      at = parentOf(byId, at);
    }
    // Of calls that ran side by side, only one result has successors.
    const beside = entries.filter(({ parentUuid }) => path.has(parentUuid ?? ''));
    const own = new Set([...path, ...beside.filter(isResult).map(({ uuid }) => uuid)]);
    for (const uuid of own) covered.add(uuid);
    branches.unshift(entries.filter(({ uuid }) => own.has(uuid)));
  }
  return branches;
}

/** All entries of a conversation's main part: its messages, and the entries between them. */
export function mainEntries(
  entries: readonly RawEntry[],
  said: readonly { uuid: string }[],
): Set<string> {
  const byId = new Map(entries.map((entry) => [entry.uuid, entry]));
  const main = new Set(said.map(({ uuid }) => uuid));
  for (const { uuid } of said) {
    const isNew = (entry: RawEntry | undefined): entry is RawEntry =>
      entry !== undefined && !main.has(entry.uuid);
    for (let at = parentOf(byId, byId.get(uuid)); isNew(at); at = parentOf(byId, at)) {
      main.add(at.uuid);
    }
  }
  return main;
}

/** The SDK's messages, with what it leaves out: whether only the model was told, and who said it besides people. */
export function withFlags(messages: readonly unknown[], entries: readonly RawEntry[]): unknown[] {
  const byId = new Map(entries.map((entry) => [entry.uuid, entry]));
  return messages.map((message) => {
    if (typeof message !== 'object' || message === null || !('uuid' in message)) return message;
    const entry = typeof message.uuid === 'string' ? byId.get(message.uuid) : undefined;
    return { ...message, isMeta: entry?.isMeta === true, origin: entry?.['origin'] };
  });
}

const parentOf = (
  byId: ReadonlyMap<string, RawEntry>,
  entry: RawEntry | undefined,
): RawEntry | undefined => byId.get(entry?.parentUuid ?? entry?.logicalParentUuid ?? '');

const isSpoken = ({ type, isSidechain, isMeta }: RawEntry): boolean =>
  (type === 'user' || type === 'assistant') && isSidechain !== true && isMeta !== true;

const isResult = (entry: RawEntry): boolean => entry['toolUseResult'] !== undefined;
