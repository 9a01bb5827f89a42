/** Sessions in Claude Code's own store, including those made in a terminal. Read without starting a process. */
import type { SDKSessionInfo, SessionMessage } from '@anthropic-ai/claude-agent-sdk';
import type { StoredSession, StoredTurn } from '../provider.ts';
import { loadSdk } from './sdk.ts';
import {
  branchesOf,
  mainEntries,
  readRaw,
  throughPlace,
  withFlags,
  type RawEntry,
} from './raw-transcript.ts';
import { readTranscript, type TranscriptEntry } from './translate/transcript.ts';
import { translateTranscript } from './translate/transcript-turns.ts';

/** Newest first; of one folder, or all. Sessions without a known folder cannot be opened and are left out. */
export async function listStored(projectDir?: string): Promise<StoredSession[]> {
  const { listSessions } = await loadSdk();
  const where = projectDir === undefined ? {} : { dir: projectDir, includeWorktrees: false };
  const sessions = await listSessions(where);
  return sessions.map((info) => storedSession(info, projectDir)).filter((one) => one !== undefined);
}

export async function findStored(
  sessionId: string,
  projectDir?: string,
): Promise<StoredSession | undefined> {
  const { getSessionInfo } = await loadSdk();
  const info = await getSessionInfo(sessionId, projectDir === undefined ? {} : { dir: projectDir });
  return info && storedSession(info, projectDir);
}

/**
 * The stored conversation, including abandoned branches, in the order in which its turns began; undefined if there is
 * no such session.
 */
export async function readHistory(
  sessionId: string,
  projectDir: string,
): Promise<StoredTurn[] | undefined> {
  if ((await findStored(sessionId, projectDir)) === undefined) return undefined;
  const stored = await readConversation(sessionId, projectDir);
  const subagents = await readSubagents(sessionId, projectDir);
  const places = new Map(stored.raw.map(({ uuid }, place) => [uuid, place]));
  const translate = (entries: readonly TranscriptEntry[]): StoredTurn[] =>
    translateTranscript(entries, subagents, projectDir);
  const main = chained(translate(stored.main), undefined);
  const placeOf = (uuid: string): number => places.get(uuid) ?? Infinity;
  const left = stored.branches.flatMap(({ root, entries }) => {
    const from = main.findLast(({ turnId }) => placeOf(turnId) <= placeOf(root));
    return chained(translate(entries), from?.turnId).map((turn) => ({ ...turn, isLeft: true }));
  });
  return [...main, ...left].toSorted((a, b) => placeOf(a.turnId) - placeOf(b.turnId));
}

interface Conversation {
  /** All of the file, in the order of writing. */
  raw: RawEntry[];
  /** What a resumed Claude Code knows. */
  main: TranscriptEntry[];
  /** What it does not know any more, each with the entry that it goes on from. */
  branches: { root: string; entries: TranscriptEntry[] }[];
}

export async function readConversation(
  sessionId: string,
  projectDir: string,
): Promise<Conversation> {
  const { entries: raw, leaf } = await readRaw(sessionId, projectDir);
  const messages = await readMain(sessionId, projectDir, raw, leaf);
  const read = (entries: readonly unknown[]): TranscriptEntry[] =>
    readTranscript(withFlags(entries, raw));
  const branches = branchesOf(raw, mainEntries(raw, messages)).map((branch) => ({
    root: branch[0]?.parentUuid ?? '',
    entries: read(branch),
  }));
  return { raw, main: read(messages), branches };
}

/** The part of the conversation that a resumed Claude Code knows. */
async function readMain(
  sessionId: string,
  projectDir: string,
  raw: RawEntry[],
  leaf: string | undefined,
): Promise<SessionMessage[]> {
  const { getSessionMessages } = await loadSdk();
  const options = { dir: projectDir, includeSystemMessages: true };
  const newest = await getSessionMessages(sessionId, options);
  // The SDK uses the entry that was written last; Claude Code itself uses the place that a process has noted.
  if (leaf === undefined || mainEntries(raw, newest).has(leaf)) return newest;
  const noted = await messagesOf(throughPlace(raw, leaf), sessionId, projectDir);
  return noted.length > 0 ? noted : newest;
}

/**
 * All that was said from a turn on, whatever Claude Code has summarised since and knows no more. Nothing if it has
 * summarised nothing.
 */
export async function readSummarised(
  turnId: string,
  { raw, main }: Conversation,
  sessionId: string,
  projectDir: string,
): Promise<TranscriptEntry[]> {
  const places = new Map(raw.map(({ uuid }, place) => [uuid, place]));
  const start = places.get(turnId) ?? Infinity;
  const summaries = raw.flatMap((entry, place) =>
    place > start && entry['subtype'] === 'compact_boundary' ? place : [],
  );
  const said: TranscriptEntry[] = [];
  for (const place of summaries) {
    const messages = await messagesOf(raw.slice(0, place), sessionId, projectDir);
    said.push(...readTranscript(withFlags(messages, raw)));
  }
  // After a summary, some of what was said before it stands again.
  const all = summaries.length > 0 ? [...said, ...main] : [];
  return [...new Map(all.map((entry) => [entry.uuid, entry])).values()];
}

/** The conversation that leads to the last of some entries. */
async function messagesOf(
  entries: RawEntry[],
  sessionId: string,
  projectDir: string,
): Promise<SessionMessage[]> {
  const { getSessionMessages } = await loadSdk();
  const sessionStore = { append: async () => undefined, load: async () => entries };
  return getSessionMessages(sessionId, {
    dir: projectDir,
    includeSystemMessages: true,
    sessionStore,
  });
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

/** Each turn with the one that it goes on from. */
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

/** Copies: a text cut out of a file's text keeps the whole file in memory. */
const copied = (text: string): string => Buffer.from(text).toString();
