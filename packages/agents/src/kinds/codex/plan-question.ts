/** The question that Codex' own terminal asks after a plan, and what each answer sends to Codex. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ApprovalOutcome } from '@liminal/protocol';
import { z } from 'zod';
import type { ApprovalQuestion } from '../../base/pending-approvals.ts';
import { isRecord } from '../../base/parse-line.ts';
import type { AppServer } from './app-server.ts';

/** The option that starts a fresh thread with only the plan. */
const clear = 'clear';

export const implementPlan: ApprovalQuestion = {
  title: 'Implement this plan?',
  options: [
    { optionId: 'implement', kind: 'allow_once', name: 'Implement it', takesNote: true },
    {
      optionId: clear,
      kind: 'allow_once',
      name: 'Clear the context and implement it',
      takesNote: true,
    },
    { optionId: 'stay', kind: 'reject_once', name: 'Keep planning', takesNote: true },
  ],
};

/** The next step after a plan. */
export interface AfterPlan {
  /** The next message to Codex, without the plan. */
  words: string;
  /** Whether Plan mode ends. */
  endsPlanMode: boolean;
  /** Whether a fresh thread gets the plan. If so, `words` is only the person's note, or '' without a note. */
  clearsContext: boolean;
}

/** Returns the next step that a person chose; undefined if Codex must wait for the next message. */
export function afterPlan(outcome: ApprovalOutcome): AfterPlan | undefined {
  if (outcome.outcome === 'cancelled') return undefined;
  const { optionId, note } = outcome;
  if (optionId === clear) return { words: note ?? '', endsPlanMode: true, clearsContext: true };
  if (optionId === 'implement') {
    return { words: withNote(implement, note), endsPlanMode: true, clearsContext: false };
  }
  return note === undefined
    ? undefined
    : { words: note, endsPlanMode: false, clearsContext: false };
}

const implement = 'Implement the plan.';

const withNote = (words: string, note = ''): string =>
  note === '' ? words : `${words}\n\n${note}`;

/** Returns the text of a proposed plan that Codex has completed; undefined for any other notification. */
export function planIn(method: string, item: unknown): string | undefined {
  if (method !== 'item/completed' || !isRecord(item) || item['type'] !== 'plan') return undefined;
  return typeof item['text'] === 'string' ? item['text'] : '';
}

const Prepared = z.looseObject({ prompt: z.string() });

/**
 * Passes an approved plan to a fresh thread, as Codex' own terminal does: the plan is written to a file below
 * `CODEX_HOME`, or put into the thread's context if the file cannot be written. Returns the thread's first message.
 * Rejects with CodexError.
 */
export async function preparePlan(
  server: AppServer,
  threadId: string,
  plan: { markdown: string; note: string },
): Promise<string> {
  const { markdown, note } = plan;
  const attachmentPath = await storePlan(server, markdown).catch(() => undefined);
  const asked = { threadId, markdown, ...(attachmentPath !== undefined && { attachmentPath }) };
  const answer = await server.request('thread/prepareApprovedPlan', asked);
  return withNote(Prepared.parse(answer).prompt, note);
}

/** Stores a plan as a file and returns the file's path; undefined if `CODEX_HOME` is not known. */
async function storePlan(server: AppServer, markdown: string): Promise<string | undefined> {
  if (server.home === undefined) return undefined;
  const folder = join(server.home, 'attachments', randomUUID());
  const path = join(folder, 'approved-plan.md');
  await server.request('fs/createDirectory', { path: folder, recursive: true });
  const dataBase64 = Buffer.from(markdown).toString('base64');
  await server.request('fs/writeFile', { path, dataBase64 });
  return path;
}

/** Returns whether a thread's first message shows that the thread was begun to implement an approved plan. */
export const beginsWithPlan = (firstMessage: string): boolean =>
  /^(?:Implement the plan\.|Read the approved plan at .+ and implement it\.)/.test(firstMessage);
