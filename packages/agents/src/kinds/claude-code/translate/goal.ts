/** The notice about the goal that a person has set with `/goal`. */
import { z } from 'zod';
import { headOf, type SessionNotice } from '@liminal/protocol';

const Evaluated = z.looseObject({
  type: z.literal('active_goal'),
  value: z
    .looseObject({
      condition: z.string(),
      iterations: z.number().catch(0),
      last_reason: z.string().optional().catch(undefined),
    })
    .nullable(),
});

/**
 * Claude Code's answer to `/goal`. This answer is the first message that contains the goal: Claude Code sends
 * `active_goal` only when it first checks the goal.
 */
const Answered = z.looseObject({
  type: z.literal('assistant'),
  message: z.looseObject({
    model: z.literal('<synthetic>'),
    content: z.tuple([z.looseObject({ type: z.literal('text'), text: z.string() })]),
  }),
});

const Reset = z.looseObject({ type: z.literal('conversation_reset') });
const GoalMessage = z.union([Evaluated, Answered, Reset]);

/** The most characters that are shown of a goal, and of the reason why the goal is not met. */
const maxShown = 300;

/**
 * Returns the new notices about the goal, which replace the earlier notices about the goal; undefined for messages that
 * are not about the goal.
 */
export function readGoal(message: unknown): SessionNotice[] | undefined {
  const goalMessage = GoalMessage.safeParse(message).data;
  if (goalMessage === undefined) return undefined;
  if (goalMessage.type === 'conversation_reset') return [];
  if (goalMessage.type === 'active_goal')
    return goalMessage.value === null ? [] : [evaluated(goalMessage.value)];
  const [, verb, condition] =
    /^Goal (set|cleared)(?:: ([^]*))?$/.exec(goalMessage.message.content[0].text) ?? [];
  if (verb === 'set' && condition !== undefined) return [goal(condition, '')];
  return verb === 'cleared' ? [] : undefined;
}

function evaluated({
  condition,
  iterations,
  last_reason: reason = '',
}: NonNullable<z.infer<typeof Evaluated>['value']>): SessionNotice {
  if (iterations === 0) return goal(condition, '');
  const times = iterations === 1 ? 'once' : `${iterations} times`;
  const why = reason === '' ? '' : `: ${headOf(reason, maxShown)}`;
  return goal(condition, ` Checked ${times}, and not reached yet${why}`);
}

const goal = (condition: string, state: string): SessionNotice => ({
  level: 'info',
  text: `Goal: ${headOf(condition, maxShown)}${state === '' ? '' : `\n${state.trim()}`}`,
});
