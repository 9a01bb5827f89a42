/** Plays recordings of the real `codex app-server` to Liminal's client, line by line. */
import { setImmediate as settled } from 'node:timers/promises';
import type { CodexRecording, RpcMessage } from '@liminal/testkit';
import type { ApprovalAnswer, EventDraft } from '@liminal/protocol';
import { z } from 'zod';
import type { AgentProcessEvents } from '../../src/base/agent-process.ts';
import { AppServer } from '../../src/kinds/codex/app-server.ts';
import { CodexSession } from '../../src/kinds/codex/codex-session.ts';
import { Rollouts } from '../../src/kinds/codex/rollouts.ts';
import { CodexSettings, readOpened } from '../../src/kinds/codex/settings.ts';
import { readThread } from '../../src/kinds/codex/stored-threads.ts';
import type { SessionExit, SessionUpdate, StoredTurn } from '../../src/contract/provider.ts';

const Params = z.looseObject({
  threadId: z.string().optional(),
  input: z.array(z.looseObject({ text: z.string().optional() })).optional(),
});

/** The result for one thread of a recording. */
export interface RecordedSession {
  drafts: EventDraft[];
  updates: SessionUpdate[];
  exits: SessionExit[];
  /** The thread's turns from Codex' store, if the recording reads them. */
  history: StoredTurn[];
}

/** Requests that begin a turn. */
const beginning = ['turn/start', 'thread/compact/start', 'review/start'];
/** Requests that open a thread. */
const opening = ['thread/start', 'thread/resume', 'thread/fork'];

class Playing {
  /** Codex' stored turns, by thread id. */
  readonly #stored: ReadonlyMap<string, unknown>;
  readonly sessions = new Map<string, RecordedSession & { session: CodexSession }>();
  /** The recorded client's requests, by its ids. */
  readonly #recorded = new Map<unknown, { method: string; params: unknown }>();
  /** The ids of Liminal's requests that wait for a recorded answer, by method. */
  readonly #ours = new Map<string, unknown[]>();
  /** The approvals for Codex' requests, by Codex' ids. */
  readonly #asked = new Map<unknown, { threadId: string; approvalId: string | undefined }>();
  #events: AgentProcessEvents | undefined;
  #server = this.#start();
  #turns = 0;

  constructor(stored: ReadonlyMap<string, unknown>) {
    this.#stored = stored;
  }

  #start(): AppServer {
    return new AppServer({
      listen: async (events) => {
        this.#events = events;
      },
      write: (line) => this.#written(JSON.parse(line) as RpcMessage),
      note: () => {},
      explain: String,
      end: async () => {},
    });
  }

  started(): void {
    this.#server = this.#start();
  }

  killed(): void {
    this.#events?.onGone(new Error('It was killed.'));
  }

  /** Does what the recorded client did. */
  client({ id, method, params, result }: RpcMessage): void {
    if (method === undefined) return this.#answer(id, result);
    this.#recorded.set(id, { method, params });
    const { threadId = '', input } = Params.parse(params ?? {});
    const session = this.sessions.get(threadId)?.session;
    if (opening.includes(method)) void this.#open(method, params).catch(() => undefined);
    else if (beginning.includes(method)) {
      const said = { 'thread/compact/start': '/compact', 'review/start': '/review' }[method];
      const text = input?.map((part) => part.text ?? '').join('');
      void session?.send(said ?? text ?? '', `turn-${++this.#turns}`).catch(() => undefined);
    } else if (method === 'turn/interrupt') void session?.cancel().catch(() => undefined);
  }

  agent(message: RpcMessage): void {
    const { id, method, params, result } = message;
    if (method === undefined) {
      const { method: asked = '', params: sent } = this.#recorded.get(id) ?? {};
      if (asked === 'thread/turns/list') void this.#read(sent, result);
      const ours = this.#ours.get(asked)?.shift();
      if (ours !== undefined) this.#emit({ ...message, id: ours as number });
      return;
    }
    if (id != null) {
      this.#asked.set(id, { threadId: Params.parse(params).threadId ?? '', approvalId: undefined });
    }
    this.#emit(message);
  }

  #emit(message: RpcMessage): void {
    void this.#events?.onLine(JSON.stringify(message));
  }

  /** Handles a line from Liminal. Requests that the recorded client did not make get an empty answer. */
  #written({ id, method }: RpcMessage): void {
    if (method === undefined || id == null) return;
    const isRecorded = [...this.#recorded.values()].some((one) => one.method === method);
    if (isRecorded) this.#ours.set(method, [...(this.#ours.get(method) ?? []), id]);
    else setImmediate(() => this.#emit({ id, result: {} }));
  }

  async #open(method: string, params: unknown): Promise<void> {
    const server = this.#server;
    await server.request(method, params, (answer) => {
      const opened = readOpened(answer);
      if (opened === undefined) return;
      const threadId = opened.thread.id;
      const before = this.sessions.get(threadId);
      const heard: RecordedSession = before ?? { drafts: [], updates: [], exits: [], history: [] };
      const output = {
        emit: (draft: EventDraft) => void heard.drafts.push(draft),
        update: (update: SessionUpdate) => {
          heard.updates.push(update);
        },
        exit: (exit: SessionExit) => void heard.exits.push(exit),
      };
      const session = new CodexSession({
        server,
        threadId,
        projectDir: '/project',
        output,
        settings: new CodexSettings(opened),
        rollouts: new Rollouts({ CODEX_HOME: '/nowhere' }),
        runsUserCommands: true,
        startThread: () => Promise.reject(new Error('This Codex starts no other thread.')),
        leave: async () => {},
      });
      server.admit(threadId, session);
      this.sessions.set(threadId, Object.assign(heard, { session }));
    });
  }

  async #read(params: unknown, result: unknown): Promise<void> {
    const { threadId = '' } = Params.parse(params);
    const request = async (_method: string, asked: unknown): Promise<object> => {
      const { threadId: one = '' } = Params.parse(asked);
      const page = one === threadId ? result : this.#stored.get(one);
      if (page === undefined) throw new Error('It is not recorded.');
      return { ...page, nextCursor: null };
    };
    const stored = { request } as unknown as AppServer;
    const history = await readThread(stored, threadId, '/project').catch(() => []);
    this.sessions.get(threadId)?.history.push(...history);
  }

  /** Answers the approval for a request as the recorded client did. */
  #answer(id: unknown, result: unknown): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    for (const { drafts, session } of this.sessions.values()) {
      const open = openApprovals(drafts);
      const [approvalId] = open;
      if (approvalId === undefined) continue;
      const answer = answerIn(result);
      if (answer === undefined) continue;
      // The recorded client may choose an option that Liminal does not offer.
      const refuse = () => session.answerApproval(approvalId, { optionId: 'decline' });
      session
        .answerApproval(approvalId, answer)
        .catch(refuse)
        .catch(() => undefined);
    }
  }
}

function openApprovals(drafts: readonly EventDraft[]): string[] {
  const open = new Map<string, string>();
  for (const { payload } of drafts) {
    if (payload.type === 'item_start' && payload.approvalId !== undefined) {
      open.set(payload.itemId, payload.approvalId);
    }
    if (payload.type === 'item_done') open.delete(payload.itemId);
  }
  return [...open.values()];
}

const Answer = z.looseObject({
  decision: z.unknown().optional(),
  action: z.string().optional(),
  content: z.record(z.string(), z.any()).nullish(),
  answers: z.record(z.string(), z.object({ answers: z.array(z.string()) })).optional(),
});

/** Returns a person's choice from the recorded answer to Codex. */
function answerIn(result: unknown): ApprovalAnswer | undefined {
  const { decision, action, content, answers } = Answer.parse(result ?? {});
  if (answers !== undefined) {
    const given = Object.entries(answers).map(([id, one]) => [id, one.answers[0] ?? '']);
    return { optionId: 'accept', content: Object.fromEntries(given) };
  }
  if (action === 'accept') return { optionId: 'accept', content: content ?? {} };
  if (action !== undefined) return { optionId: action };
  if (typeof decision === 'string')
    return decision === 'cancel' ? undefined : { optionId: decision };
  return decision === undefined ? undefined : { optionId: 'amend' };
}

/** Returns the stored turns in a recording, by thread id. */
function storedIn(entries: CodexRecording['entries']): Map<string, unknown> {
  const asked = new Map<unknown, string>();
  const stored = new Map<string, unknown>();
  for (const entry of entries) {
    if ('client' in entry && entry.client.method === 'thread/turns/list') {
      asked.set(entry.client.id, Params.parse(entry.client.params).threadId ?? '');
    }
    if (!('agent' in entry) || entry.agent.method !== undefined) continue;
    const threadId = asked.get(entry.agent.id);
    if (threadId !== undefined) stored.set(threadId, entry.agent.result);
  }
  return stored;
}

/** Plays a recording. Turns get the ids turn-1, turn-2, … across all threads. */
export async function playRecording({ entries }: CodexRecording): Promise<RecordedSession[]> {
  const playing = new Playing(storedIn(entries));
  for (const entry of entries) {
    if ('client' in entry) playing.client(entry.client);
    else if ('agent' in entry) playing.agent(entry.agent);
    else if (entry.host === 'killed') playing.killed();
    else playing.started();
    await settled();
    await settled();
  }
  const sessions = [...playing.sessions.values()];
  // The recorded client has no question after a plan.
  for (const { session, drafts } of sessions) {
    const [approvalId] = openApprovals(drafts);
    if (approvalId !== undefined) {
      await session.answerApproval(approvalId, { optionId: 'stay' }).catch(() => undefined);
      await settled();
    }
  }
  return sessions;
}
