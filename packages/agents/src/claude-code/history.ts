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
  const { entries: raw, leaf } = await readRaw(sessionId, projectDir);
  const messages = await readMain(sessionId, projectDir, raw, leaf);
  const subagents = await readSubagents(sessionId, projectDir);
  const places = new Map(raw.map(({ uuid }, place) => [uuid, place]));
  const translate = (entries: readonly unknown[]): StoredTurn[] =>
    translateTranscript(readTranscript(withFlags(entries, raw)), subagents, projectDir);
  const main = chained(translate(messages), undefined);
  const placeOf = (uuid: string): number => places.get(uuid) ?? Infinity;
  const left = branchesOf(raw, mainEntries(raw, messages)).flatMap((branch) => {
    const root = placeOf(branch[0]?.parentUuid ?? '');
    const from = main.findLast(({ turnId }) => placeOf(turnId) <= root);
    return chained(translate(branch), from?.turnId).map((turn) => ({ ...turn, isLeft: true }));
  });
  return [...main, ...left].toSorted((a, b) => placeOf(a.turnId) - placeOf(b.turnId));
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
  const load = async () => throughPlace(raw, leaf);
  const sessionStore = { append: async () => undefined, load };
  const noted = await getSessionMessages(sessionId, { ...options, sessionStore });
  return noted.length > 0 ? noted : newest;
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
