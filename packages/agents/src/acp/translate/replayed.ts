import { typeOf } from './conversation.ts';
import { isRecord } from './fields.ts';
import type { AcpQuirks, ReplayQuirks } from './quirks.ts';

export interface ReplayedUpdate {
  /** `params.update` of a `session/update`, as it came. */
  update: unknown;
  /** ISO 8601 UTC. */
  timestamp: string;
}

type Update = Record<string, unknown>;

const chunks = new Set(['user_message_chunk', 'agent_message_chunk', 'agent_thought_chunk']);

/** Converts replayed updates to the live form, as far as the agent's quirks describe it. */
export function asLive(
  replayed: readonly ReplayedUpdate[],
  { replay = {} }: AcpQuirks,
): ReplayedUpdate[] {
  const plans = new Set<unknown>();
  return replayed.flatMap(({ update, timestamp }, index) =>
    isRecord(update)
      ? tellLive(update, index, replay, plans).map((live) => ({ update: live, timestamp }))
      : [{ update, timestamp }],
  );
}

/** `plans` are the ids of calls that are shown as plans: their results are dropped. */
function tellLive(
  update: Update,
  index: number,
  replay: ReplayQuirks,
  plans: Set<unknown>,
): Update[] {
  const type = typeOf(update);
  if (chunks.has(type)) {
    return replay.tellsWhole === true ? [{ messageId: `whole-${index}`, ...update }] : [update];
  }
  if (type === 'tool_call') {
    const plan = planOf(update, replay);
    if (plan !== undefined) plans.add(update['toolCallId']);
    return [plan ?? named(update, replay)];
  }
  if (type !== 'tool_call_update') return [update];
  return plans.has(update['toolCallId']) ? [] : [withoutHead(update, replay)];
}

function planOf(update: Update, { plan }: ReplayQuirks): Update | undefined {
  const input = update['rawInput'];
  if (plan === undefined || update['title'] !== plan.tool || !isRecord(input)) return undefined;
  const entries = input[plan.entries];
  if (!Array.isArray(entries)) return undefined;
  const renamed = entries.map((entry: unknown) => {
    if (!isRecord(entry)) return entry;
    const { [plan.content]: content, ...rest } = entry;
    return { ...rest, content };
  });
  return { sessionUpdate: 'plan', entries: renamed };
}

function named(update: Update, { tools }: ReplayQuirks): Update {
  const name = update['title'];
  const tool = tools !== undefined && typeof name === 'string' && Object.hasOwn(tools, name);
  const known = tool ? tools[name] : undefined;
  if (known === undefined) return update;
  const input = update['rawInput'];
  const title = isRecord(input) ? input[known.title] : undefined;
  return { ...update, name, kind: known.kind, title: typeof title === 'string' ? title : name };
}

function withoutHead(update: Update, { outputHead }: ReplayQuirks): Update {
  const output = update['rawOutput'];
  const head = typeof output === 'string' ? outputHead?.exec(output) : undefined;
  if (typeof output !== 'string' || head == null || head.index !== 0) return update;
  const stated = head.groups?.['exitCode'];
  const exitCode = stated === undefined ? undefined : Number(stated);
  const printed = { aggregated_output: output.slice(head[0].length), exit_code: exitCode };
  const hasFailed = exitCode !== undefined && exitCode !== 0;
  return { ...update, rawOutput: printed, ...(hasFailed && { status: 'failed' }) };
}
