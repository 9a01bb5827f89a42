import { z } from 'zod';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { readBlock } from './content.ts';
import { readFields } from './fields.ts';
import { parentCallOf } from './parent-call.ts';
import { MessageWriter, type Speaker } from './message-writer.ts';
import { type KnownSubagents, subagentName } from './subagents.ts';
import type { Source } from './tool-call.ts';

const fields = {
  sessionUpdate: z.string(),
  title: z.string(),
  content: z.unknown(),
  messageId: z.string(),
  _meta: z.unknown(),
};

interface ChildSessionsOptions {
  writer: TurnWriter;
  known: KnownSubagents;
  /** Reads an update of a call. */
  readCall: (update: unknown, source: Source, parentCallId: string) => void;
}

/**
 * Shows the sessions of an agent's subagents in one turn. A subagent's session is shown below the call that began the
 * subagent; if the agent does not name the call, the session is shown as a notice.
 */
export class ChildSessions {
  readonly #options: ChildSessionsOptions;
  /** The message writers by session, because the chunks of several subagents may alternate. */
  readonly #messageWriters = new Map<string, MessageWriter>();
  /** The open notices of subagents without a call, by session. */
  readonly #notices = new Map<string, { id: string; speaker: Speaker }>();
  #count = 0;

  constructor(options: ChildSessionsOptions) {
    this.#options = options;
  }

  read(childId: string, update: unknown): void {
    const { sessionUpdate, title, _meta } = readFields(update, fields).fields;
    const callId = parentCallOf(_meta) ?? this.#options.known.get(childId)?.callId;
    switch (sessionUpdate) {
      case 'agent_message_chunk':
        return this.#showChunk(childId, 'agent', update, callId);
      case 'agent_thought_chunk':
        return this.#showChunk(childId, 'thought', update, callId);
      case 'tool_call':
        this.#closeOf(childId);
        if (callId !== undefined) return this.#options.readCall(update, 'announcement', callId);
        this.#options.writer.keep(update);
        return this.#options.writer.notice(
          `The subagent “${this.#nameOf(childId)}” uses a tool: ${title ?? 'unnamed'}.`,
        );
      case 'tool_call_update':
        if (callId !== undefined) return this.#options.readCall(update, 'update', callId);
        return this.#options.writer.keep(update);
      default:
        return this.#options.writer.keep(update);
    }
  }

  /** Called at the turn's end. */
  close(): void {
    for (const childId of [...this.#messageWriters.keys(), ...this.#notices.keys()]) {
      this.#closeOf(childId);
    }
  }

  #nameOf(childId: string): string {
    return subagentName(this.#options.known, childId);
  }

  #showChunk(
    childId: string,
    speaker: Speaker,
    update: unknown,
    parentCallId: string | undefined,
  ): void {
    const { content, messageId } = readFields(update, fields).fields;
    if (parentCallId === undefined) return this.#note(childId, speaker, content);
    const { writer } = this.#options;
    const known = this.#messageWriters.get(childId);
    const messageWriter =
      known ?? new MessageWriter(writer, `${writer.turnId}:subagent:${++this.#count}`);
    this.#messageWriters.set(childId, messageWriter);
    messageWriter.show(speaker, content, { messageId, parentCallId });
  }

  #note(childId: string, speaker: Speaker, content: unknown): void {
    const { writer } = this.#options;
    const { text = '', block, unread } = readBlock(content);
    const unshown = unread ?? block;
    if (unshown !== undefined) writer.keep(unshown);
    if (text === '') return;
    let notice = this.#notices.get(childId);
    if (notice?.speaker !== speaker) {
      this.#closeOf(childId);
      notice = { id: `${writer.turnId}:subagent:${++this.#count}`, speaker };
      this.#notices.set(childId, notice);
      const verb = speaker === 'agent' ? 'says' : 'thinks';
      writer.start({ type: 'message', id: notice.id, content: '', origin: 'system' });
      writer.append(notice.id, `The subagent “${this.#nameOf(childId)}” ${verb}:\n\n`);
    }
    writer.append(notice.id, text);
  }

  #closeOf(childId: string): void {
    this.#messageWriters.get(childId)?.close();
    const notice = this.#notices.get(childId);
    this.#notices.delete(childId);
    if (notice !== undefined) this.#options.writer.done(notice.id);
  }
}
