/** Answers messages without sending the messages to the agent. */
import type { EventDraft } from '@liminal/protocol';
import { isoNow as now } from './iso-clock.ts';
import { type TurnStart, TurnWriter } from './turn-writer.ts';

/** Returns the slash command's name; undefined for other text, paths, and text that begins with a blank. */
export const commandName = (message: string): string | undefined =>
  /^\/([\w:.-]+)(?:\s|$)/.exec(message)?.[1];

/**
 * Returns Liminal's own answer to a slash command that Liminal does not send to the agent.
 * @param place - A sentence that says where Liminal offers the command, or that the command does not exist.
 */
export const notSentNotice = (place: string): string =>
  `${place} Nothing was sent. To send the text unchanged, put a space before it.`;

/** Emits a turn with the message and Liminal's own answer. */
export function answerLocally(
  emit: (draft: EventDraft) => void,
  { turnId, message, answer, ...start }: Omit<TurnStart, 'trigger'> & LocalAnswer,
): void {
  const writer = new TurnWriter(turnId, emit);
  writer.at(now());
  writer.begin({ ...start, trigger: 'user' }, message);
  writer.notice(answer);
  writer.end({ type: 'response_done', status: 'completed', finishReason: 'end_turn' });
}

interface LocalAnswer {
  turnId: string;
  message: string;
  answer: string;
}
