/** The translator over recordings of the real codex-acp, session by session. */
import type { EventDraft } from '@liminal/protocol';
import { z } from 'zod';
import { codexQuirks } from '../../src/codex/quirks.ts';
import type { SessionUpdate, StoredTurn } from '../../src/provider.ts';
import { readReplay } from '../../src/acp/translate/replay.ts';
import { AcpTranslator } from '../../src/acp/translate/translator.ts';
import { timestamp } from '../../src/acp/translate/testing/hearing.ts';

const Params = z.looseObject({
  sessionId: z.string().optional(),
  update: z.unknown().optional(),
  prompt: z.array(z.looseObject({ text: z.string().optional() })).optional(),
  toolCall: z.looseObject({ title: z.string().nullish() }).optional(),
  options: z
    .array(
      z.object({
        optionId: z.string(),
        name: z.string(),
        kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
      }),
    )
    .optional(),
});
type Params = z.infer<typeof Params>;

const Outcome = z.looseObject({
  outcome: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('selected'), optionId: z.string() }),
    z.object({ outcome: z.literal('cancelled') }),
  ]),
});

const Session = z.looseObject({ sessionId: z.string().optional() });

/** The results of one session of a recording. */
export interface RecordedSession {
  translator: AcpTranslator;
  drafts: EventDraft[];
  updates: SessionUpdate[];
  /** Updates of the conversation before the answer to `session/load`, as history. */
  history: StoredTurn[];
}

class Playing {
  readonly sessions = new Map<string, RecordedSession>();
  readonly #asked = new Map<unknown, { method: string; params: Params }>();
  readonly #loading = new Map<string, unknown[]>();
  #turns = 0;

  client({ id, method, params, result }: Message): void {
    const read = Params.parse(params ?? {});
    if (method === undefined) return this.#answered(id, result);
    this.#asked.set(id, { method, params: read });
    if (read.sessionId === undefined) return;
    if (method === 'session/load') this.#loading.set(read.sessionId, []);
    const { translator } = this.#session(read.sessionId);
    const text = read.prompt?.map((block) => block.text ?? '').join('') ?? '';
    if (method === 'session/prompt') translator.begin(`turn-${++this.#turns}`, text, timestamp);
    if (method === 'session/cancel') translator.stop(timestamp);
  }

  agent(message: Message): void {
    const { id, method, params } = message;
    if (method === undefined) return this.#answer(message);
    const read = Params.parse(params ?? {});
    const sessionId = read.sessionId ?? '';
    const { translator } = this.#session(sessionId);
    if (method === 'session/update') {
      const replayed = this.#loading.get(sessionId);
      if (replayed === undefined) translator.read(read.update, timestamp);
      else replayed.push(read.update);
    } else if (method === 'session/request_permission') {
      this.#asked.set(`agent-${String(id)}`, { method, params: read });
      const callId = translator.toolCall(read.toolCall, timestamp);
      const title = read.toolCall?.title ?? 'A tool';
      const request = { approvalId: String(id), title, options: read.options ?? [] };
      translator.openApproval({ ...request, ...(callId !== undefined && { callId }) }, timestamp);
    }
  }

  killed(): void {
    const error = { code: 'PROCESS_CRASH', message: 'It was killed.' };
    for (const { translator } of this.sessions.values())
      translator.end({ type: 'response_error', error }, timestamp);
  }

  #answered(id: unknown, result: unknown): void {
    const asked = this.#asked.get(`agent-${String(id)}`);
    const outcome = Outcome.safeParse(result).data?.outcome;
    if (asked?.params.sessionId === undefined || outcome === undefined) return;
    const { translator } = this.#session(asked.params.sessionId);
    translator.closeApproval(String(id), outcome, timestamp);
  }

  #answer({ id, result, error }: Message): void {
    const asked = this.#asked.get(id);
    const sessionId = asked?.params.sessionId ?? Session.safeParse(result).data?.sessionId;
    if (asked === undefined || sessionId === undefined) return;
    const session = this.#session(sessionId);
    if (asked.method === 'session/prompt') {
      const failure = { code: 'AGENT_ERROR', message: JSON.stringify(error) };
      if (error === undefined) session.translator.finish(result, timestamp);
      else session.translator.end({ type: 'response_error', error: failure }, timestamp);
    } else session.translator.settings(result);
    if (asked.method === 'session/load') this.#loaded(sessionId, session);
  }

  #loaded(agentSessionId: string, session: RecordedSession): void {
    const updates = this.#loading.get(agentSessionId) ?? [];
    this.#loading.delete(agentSessionId);
    const options = { cliType: 'codex', quirks: codexQuirks, agentSessionId };
    session.history = readReplay(
      updates.map((update) => ({ update, timestamp })),
      options,
    );
  }

  #session(sessionId: string): RecordedSession {
    const known = this.sessions.get(sessionId);
    if (known !== undefined) return known;
    const drafts: EventDraft[] = [];
    const updates: SessionUpdate[] = [];
    let own = 0;
    const translator = new AcpTranslator({
      cliType: 'codex',
      quirks: codexQuirks,
      createTurnId: () => `own-${++own}`,
      emit: (draft) => drafts.push(draft),
      update: (update) => updates.push(update),
    });
    const session = { translator, drafts, updates, history: [] };
    this.sessions.set(sessionId, session);
    return session;
  }
}

interface Message {
  id?: unknown;
  method?: string | undefined;
  params?: unknown;
  result?: unknown;
  error?: unknown;
}

type Entry = { client: Message } | { agent: Message } | { host: string };

/** Plays a recording; prompts become turn-1, turn-2, … over all sessions. */
export function playRecording({ entries }: { entries: readonly Entry[] }): RecordedSession[] {
  const playing = new Playing();
  for (const entry of entries) {
    if ('client' in entry) playing.client(entry.client);
    else if ('agent' in entry) playing.agent(entry.agent);
    else if (entry.host === 'killed') playing.killed();
  }
  return [...playing.sessions.values()];
}
