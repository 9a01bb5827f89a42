import type { TurnView } from '@liminal/client';

type Item = TurnView['items'][number];

const isSaid = (item: Item): boolean =>
  item.type === 'message' && item.origin === 'agent' && item.parentCallId === undefined;

/** Whether the agent has said something in a turn. */
export const hasAnswer = ({ items }: TurnView): boolean => items.some(isSaid);

/** Returns what the agent has said in a turn, as Markdown. */
export const answerOf = ({ items }: TurnView): string =>
  items
    .filter(isSaid)
    .map((item) => ('content' in item ? item.content : ''))
    .join('\n\n');
