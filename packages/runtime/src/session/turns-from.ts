import {
  isServerTurn,
  type OutputItem,
  type Response,
  type TakenBack,
  withoutTakenBack,
} from '@liminal/protocol';
import type { ResponseHead } from '@liminal/storage';
import { errors } from '../errors.ts';
import { positionSuffix } from './fork-notices.ts';

/**
 * Returns the turns that are taken back when the conversation is rewound to its state before this run. Throws
 * `TURN_TAKEN_BACK`, `CANNOT_REWIND`.
 */
export function turnsFrom(run: Response, heads: readonly ResponseHead[]): TakenBack {
  const known = withoutTakenBack(heads);
  const from = known.findIndex(({ id }) => id === run.id);
  if (from === -1) throw errors.TURN_TAKEN_BACK.takenBack();
  const firstMessage = run.outputItems.find(isPrompt);
  if (firstMessage === undefined || run.trigger === 'agent') {
    throw errors.CANNOT_REWIND.notBegunByUser();
  }
  const turns = known.slice(from).filter((head) => !isServerTurn(head) && !isPositionRun(head));
  const { content: message, blocks } = firstMessage;
  return { turnIds: turns.map(({ turnId }) => turnId), message, ...(blocks && { blocks }) };
}

/** Whether an item is the message that began a turn. A message that was steered into a turn has a `delivery`. */
const isPrompt = (item: OutputItem): item is Extract<OutputItem, { type: 'message' }> =>
  item.type === 'message' && item.origin === 'user' && item.delivery === undefined;

/** Whether a run only records the position from which the agent continues; such a run is not a turn. */
const isPositionRun = ({ id }: ResponseHead): boolean => id.endsWith(positionSuffix);
