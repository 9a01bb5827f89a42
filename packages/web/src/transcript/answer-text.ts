import type { TurnView } from '@liminal/client';

type Item = TurnView['items'][number];

const isSaid = (item: Item): boolean =>
  item.type === 'message' && item.origin === 'agent' && item.parentCallId === undefined;

/** Whether the agent has sent a message in a turn. */
export const hasAnswer = ({ items }: TurnView): boolean => items.some(isSaid);

/** Returns the agent's messages of a turn, as Markdown. */
export const answerOf = ({ items }: TurnView): string =>
  items
    .filter(isSaid)
    .map((item) => ('content' in item ? item.content : ''))
    .join('\n\n');
