/** Sessions in Claude Code's own store, also those made in a terminal. Read without starting a process. */
import type { SDKSessionInfo } from '@anthropic-ai/claude-agent-sdk';
import type { StoredSession, StoredTurn } from '../provider.ts';
import { loadSdk } from './sdk.ts';
import { readTranscript, type TranscriptEntry } from './translate/transcript.ts';
import { translateTranscript } from './translate/transcript-turns.ts';

/** Newest first; of one folder, or all. Sessions whose folder is not known cannot be opened and are left out. */
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

/** The stored conversation, oldest turn first; nothing if there is no such session. */
export async function readHistory(
  sessionId: string,
  projectDir: string,
): Promise<StoredTurn[] | undefined> {
  const { getSessionMessages, getSubagentMessages, listSubagents } = await loadSdk();
  const where = { dir: projectDir };
  const messages = await getSessionMessages(sessionId, { ...where, includeSystemMessages: true });
  if (messages.length === 0 && (await findStored(sessionId, projectDir)) === undefined) {
    return undefined;
  }
  const subagents = new Map<string, TranscriptEntry[]>();
  for (const agentId of await listSubagents(sessionId, where)) {
    const entries = readTranscript(await getSubagentMessages(sessionId, agentId, where));
    const parentCallId = entries[0]?.parentCallId;
    if (parentCallId !== undefined) subagents.set(parentCallId, entries);
  }
  return translateTranscript(readTranscript(messages), subagents, projectDir);
}

function storedSession(info: SDKSessionInfo, knownDir?: string): StoredSession | undefined {
  const { sessionId, summary: title, lastModified, createdAt = lastModified } = info;
  const projectDir = knownDir ?? info.cwd;
  return projectDir === undefined
    ? undefined
    : {
        sessionId,
        projectDir,
        title,
        createdAt: new Date(createdAt).toISOString(),
        updatedAt: new Date(lastModified).toISOString(),
      };
}
