/** Messages that Liminal answers itself: the agent learns nothing of them. */
import type { EventDraft } from '@liminal/protocol';
import { isoNow as now } from './iso-clock.ts';
import { type TurnStart, TurnWriter } from './turn-writer.ts';

/** The name of the slash command that a message is; undefined for words, paths, and words after a blank. */
export const commandName = (message: string): string | undefined =>
  /^\/([\w:.-]+)(?:\s|$)/.exec(message)?.[1];

/** The answer to a command that goes to nobody. @param place - Where the command has its place, or that it has none. */
export const answeredHere = (place: string): string =>
  `${place} Nothing was sent. To send the words as they are, put a blank before them.`;

/** A turn of a message and its answer in Liminal's own words. */
export function answerHere(
  emit: (draft: EventDraft) => void,
  { turnId, message, answer, ...start }: Omit<TurnStart, 'trigger'> & Answered,
): void {
  const writer = new TurnWriter(turnId, emit);
  writer.at(now());
  writer.begin({ ...start, trigger: 'user' }, message);
  writer.notice(answer);
  writer.end({ type: 'response_done', status: 'completed', finishReason: 'end_turn' });
}

interface Answered {
  turnId: string;
  message: string;
  answer: string;
}
