import type { TurnView } from '@liminal/client';

type TurnItem = TurnView['items'][number];

const isAgentMessage = (item: TurnItem): boolean =>
  item.type === 'message' && item.origin === 'agent' && item.parentCallId === undefined;

/** Whether the agent has sent a message in a turn. */
export const hasAnswer = ({ items }: TurnView): boolean => items.some(isAgentMessage);

/** Returns the agent's messages of a turn, as Markdown. */
export const answerText = ({ items }: TurnView): string =>
  items
    .filter(isAgentMessage)
    .map((item) => ('content' in item ? item.content : ''))
    .join('\n\n');
