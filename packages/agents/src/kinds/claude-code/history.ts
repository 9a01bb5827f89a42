/**
 * Sessions in Claude Code's own store, including those made in a terminal; reads the store without starting a process.
 */
import type { SDKSessionInfo } from '@anthropic-ai/claude-agent-sdk';
import type { StoredSession, StoredTurn } from '../../contract/provider.ts';
import { loadSdk } from './sdk.ts';
import { listHeadless, readHeadless } from './headless-transcripts.ts';
import { branchesOf, mainEntries, readRaw } from './raw-transcript.ts';
import { findFile } from './transcript-marks.ts';
import { joinSidechains } from './sidechains.ts';
import { readTranscript, type TranscriptEntry } from './translate/transcript.ts';
import { translateTranscript } from './translate/transcript-turns.ts';

/**
 * Lists the sessions of one folder or of all, newest first. Omits sessions without a known folder: they cannot be
 * opened.
 */
export async function listStored(projectDir?: string): Promise<StoredSession[]> {
  const { listSessions } = await loadSdk();
  const where = projectDir === undefined ? {} : { dir: projectDir, includeWorktrees: false };
  const sessions = await listSessions(where);
  const listed = sessions.flatMap((info) => storedSession(info, projectDir) ?? []);
  const headless = await listHeadless(listed, projectDir);
  return [...listed, ...headless].toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
}

export async function findStored(
  sessionId: string,
  projectDir?: string,
): Promise<StoredSession | undefined> {
  const { getSessionInfo } = await loadSdk();
  const info = await getSessionInfo(sessionId, projectDir === undefined ? {} : { dir: projectDir });
  if (info) return storedSession(info, projectDir);
  const path = await findFile(sessionId, projectDir);
  return path === undefined ? undefined : readHeadless(sessionId, path);
}

/**
 * Returns the turns of the stored conversation in the order in which they began, including summarised turns and
 * abandoned branches; undefined if there is no such session.
 */
export async function readHistory(
  sessionId: string,
  projectDir: string,
): Promise<StoredTurn[] | undefined> {
  const stored = await readConversation(sessionId, projectDir);
  if (stored === undefined) return undefined;
  const { copied: copies, places, subagents } = stored;
  for (const [callId, entries] of await readSubagents(sessionId, projectDir)) {
    subagents.set(callId, entries);
  }
  const translate = (entries: readonly TranscriptEntry[]): StoredTurn[] =>
    translateTranscript(entries, subagents, projectDir);
  const main = chained(translate(stored.main), undefined);
  const placeOf = (uuid: string): number => places.get(uuid) ?? Infinity;
  const left = stored.branches.flatMap(({ root, entries }) => {
    const from = main.findLast(({ turnId }) => placeOf(turnId) <= placeOf(root));
    return chained(translate(entries), from?.turnId).map((turn) => ({
      ...turn,
      isLeft: true,
      ...(copies.has(turn.turnId) && { isCopied: true }),
    }));
  });
  return [...main, ...left].toSorted((a, b) => placeOf(a.turnId) - placeOf(b.turnId));
}

interface Conversation {
  /** Each entry's position in the file. */
  places: ReadonlyMap<string, number>;
  /** The entries that a resumed Claude Code uses, and the entries that it has summarised. */
  main: TranscriptEntry[];
  /** Abandoned branches, which Claude Code no longer uses. `root` is the entry after which the branch begins. */
  branches: { root: string; entries: TranscriptEntry[] }[];
  /** The ids of the entries that a fork has copied from another session. */
  copied: ReadonlySet<string>;
  /** Subagents' entries in the same file, by the call that started each subagent. */
  subagents: Map<string, TranscriptEntry[]>;
}

export async function readConversation(
  sessionId: string,
  projectDir: string,
): Promise<Conversation | undefined> {
  const raw = await readRaw(sessionId, projectDir);
  if (raw === undefined) return undefined;
  const { entries } = raw;
  const { subagents, strays } = joinSidechains(raw);
  const main = mainEntries(raw);
  const branches = branchesOf(entries, main).map((branch) => ({
    root: branch[0]?.parentUuid ?? '',
    entries: readTranscript(branch),
  }));
  return {
    places: new Map(entries.map(({ uuid }, place) => [uuid, place])),
    main: readTranscript([...entries.filter(({ uuid }) => main.has(uuid)), ...strays]),
    branches: branches.filter((branch) => branch.entries.length > 0),
    copied: new Set(
      entries.flatMap(({ uuid, forkedFrom }) => (forkedFrom === undefined ? [] : [uuid])),
    ),
    subagents: new Map([...subagents].map(([callId, said]) => [callId, readTranscript(said)])),
  };
}

async function readSubagents(
  sessionId: string,
  projectDir: string,
): Promise<Map<string, TranscriptEntry[]>> {
  const { getSubagentMessages, listSubagents } = await loadSdk();
  const where = { dir: projectDir };
  const subagents = new Map<string, TranscriptEntry[]>();
  for (const agentId of await listSubagents(sessionId, where)) {
    const entries = readTranscript(await getSubagentMessages(sessionId, agentId, where));
    const parentCallId = entries[0]?.parentCallId;
    if (parentCallId !== undefined) subagents.set(parentCallId, entries);
  }
  return subagents;
}

/** Sets `after` of each turn to the id of its preceding turn. */
const chained = (turns: readonly StoredTurn[], from: string | undefined): StoredTurn[] =>
  turns.map((turn, index) => {
    const after = index === 0 ? from : turns[index - 1]?.turnId;
    return after === undefined ? turn : { ...turn, after };
  });

function storedSession(info: SDKSessionInfo, knownDir?: string): StoredSession | undefined {
  const { sessionId, summary: title, lastModified, createdAt = lastModified } = info;
  const projectDir = knownDir ?? info.cwd;
  return projectDir === undefined
    ? undefined
    : {
        sessionId: copied(sessionId),
        projectDir: copied(projectDir),
        title: copied(title),
        createdAt: new Date(createdAt).toISOString(),
        updatedAt: new Date(lastModified).toISOString(),
      };
}

/** Copies a string, because a slice of a file's text keeps the whole text in memory. */
const copied = (text: string): string => Buffer.from(text).toString();
