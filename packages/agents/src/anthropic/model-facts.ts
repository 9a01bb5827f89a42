/**
 * What a model takes in a request: how long its answer may be, and how it is told to think. Sources: the overviews of
 * Anthropic's models, and the types of its SDK 1.12.
 *
 * The decision: `effort` is sent as adaptive thinking with `output_config.effort`, which is all that models since Claude
 * 4.7 take, and what 4.6 should get. Older models, and other makers' models behind the same interface, know only a
 * budget of tokens. What a server says of a model when it lists it counts more than the model's name. Thinking is asked
 * for as a summary: current models otherwise give only its signature, and people would see nothing.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { isRecord } from '../base/parse-line.ts';

export interface ModelFacts {
  /** The most that `max_tokens` may be. */
  maxTokens: number;
  /** Tokens for an answer, besides a budget for thinking. */
  answerTokens: number;
  thinks: 'adaptive' | 'budget' | 'never';
  /** It thinks although it was not told to. */
  thinksUntold: boolean;
  /** How it is told not to think: by nothing, by a type of `thinking`, or not at all. */
  off: 'untold' | 'disabled' | 'between_tools' | 'impossible';
}

const adaptive: ModelFacts = {
  maxTokens: 128_000,
  answerTokens: 64_000,
  thinks: 'adaptive',
  thinksUntold: true,
  off: 'impossible',
};
const budgeted: ModelFacts = {
  maxTokens: 64_000,
  answerTokens: 32_000,
  thinks: 'budget',
  thinksUntold: false,
  off: 'untold',
};
const unthinking = (maxTokens: number): ModelFacts => ({
  ...budgeted,
  maxTokens,
  thinks: 'never',
});

/** The first that fits counts. A name may have its maker or a region before it, and a date behind it. */
const byName: [RegExp, ModelFacts][] = [
  [/claude-(3-(opus|sonnet|haiku)|2|instant)/, unthinking(4_096)],
  [/claude-3-5/, unthinking(8_192)],
  [/claude-3-7/, budgeted],
  [/claude-(opus|sonnet|haiku)-4-[6-9](?!\d)/, { ...adaptive, thinksUntold: false, off: 'untold' }],
  [/claude-opus-4(?!-5(?!\d))/, { ...budgeted, maxTokens: 32_000 }],
  [/claude-(opus|sonnet|haiku)-4/, budgeted],
  [/claude-opus-5-5/, adaptive],
  [/claude-sonnet-5-5/, { ...adaptive, off: 'between_tools' }],
  [/claude-(opus|sonnet|haiku)-5/, { ...adaptive, off: 'disabled' }],
  [/claude/, adaptive],
];

/** Another maker's model: its context is often small, and an answer's room is taken from it. */
const another: ModelFacts = {
  ...budgeted,
  maxTokens: 32_768,
  answerTokens: 8_192,
  off: 'disabled',
};

/** @param listed - What the server said when it listed the model. */
export function factsOf(model: string, listed: Partial<ModelFacts> = {}): ModelFacts {
  const name = model.toLowerCase().replaceAll('.', '-');
  const [, facts] = byName.find(([pattern]) => pattern.test(name)) ?? [];
  return { ...(facts ?? another), ...listed };
}

/** What an entry of `/v1/models` says; other servers say less. */
export function factsListed(entry: object): Partial<ModelFacts> {
  const { max_tokens: maxTokens, capabilities } = entry as Record<string, unknown>;
  return {
    ...(typeof maxTokens === 'number' && maxTokens > 0 && { maxTokens }),
    ...thinkingListed(capabilities),
  };
}

function thinkingListed(capabilities: unknown): Partial<ModelFacts> {
  const thinking = isRecord(capabilities) ? capabilities['thinking'] : undefined;
  if (!isRecord(thinking) || !isRecord(thinking['types'])) return {};
  const { types } = thinking;
  const takes = (type: string): boolean =>
    isRecord(types[type]) && types[type]['supported'] === true;
  return {
    thinks: takes('adaptive') ? 'adaptive' : takes('enabled') ? 'budget' : 'never',
    off: takes('disabled') ? 'disabled' : takes('between_tools') ? 'between_tools' : 'impossible',
  };
}

type Thinking = Pick<
  Anthropic.MessageCreateParamsStreaming,
  'max_tokens' | 'thinking' | 'output_config'
>;

type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';
const budgets: Record<Effort, number> = {
  low: 4_096,
  medium: 12_288,
  high: 24_576,
  xhigh: 32_000,
  max: 32_000,
};
const smallestBudget = 1_024;
const isEffort = (effort: string): effort is Effort => Object.hasOwn(budgets, effort);

/** The part of a request that says how much to think, and how long the answer may be with it. */
export function thinkingOf(facts: ModelFacts, effort: string | undefined): Thinking {
  const unchanged = { max_tokens: Math.min(facts.maxTokens, facts.answerTokens) };
  if (facts.thinks === 'never') return unchanged;
  if (effort === 'none') return { ...unchanged, ...withoutThinking(facts) };
  const told = effort !== undefined && isEffort(effort) ? effort : undefined;
  if (facts.thinks === 'adaptive') return { ...unchanged, ...adaptiveThinking(facts, told) };
  return told === undefined ? unchanged : budgetFor(facts, budgets[told]);
}

function withoutThinking(facts: ModelFacts): Partial<Thinking> {
  if (facts.off === 'untold') return {};
  if (facts.off === 'impossible') return adaptiveThinking(facts, 'low');
  return { thinking: { type: facts.off } };
}

function adaptiveThinking(facts: ModelFacts, effort: Effort | undefined): Partial<Thinking> {
  if (effort === undefined && !facts.thinksUntold) return {};
  return {
    thinking: { type: 'adaptive', display: 'summarized' },
    ...(effort !== undefined && { output_config: { effort } }),
  };
}

/** The budget is a part of `max_tokens`; at least half of that is for the answer. */
function budgetFor({ maxTokens, answerTokens }: ModelFacts, wanted: number): Thinking {
  const budget = Math.min(wanted, Math.floor(maxTokens / 2));
  if (budget < smallestBudget) return { max_tokens: Math.min(maxTokens, answerTokens) };
  return {
    max_tokens: Math.min(maxTokens, answerTokens + budget),
    thinking: { type: 'enabled', budget_tokens: budget },
  };
}
