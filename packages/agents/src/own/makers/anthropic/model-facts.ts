/**
 * The limits of each model, and the way in which a request sets the model's thinking. Sources: the overviews of
 * Anthropic's models, and the types of its SDK 1.12.
 *
 * An `effort` is sent as adaptive thinking with `output_config.effort`: models since Claude 4.7 accept nothing else,
 * and for Claude 4.6 it is recommended. Older models, and other makers' models with the same API, accept only a budget
 * of tokens. Facts in a server's list override facts from the model's name. Thinking is requested as a summary, because
 * current models would otherwise return only its signature, and people would see no thinking.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { isRecord } from '../../../base/parse-line.ts';

export interface ModelFacts {
  /** The largest `max_tokens`. */
  maxTokens: number;
  /** The tokens for an answer, to which a budget for thinking is added. */
  answerTokens: number;
  thinks: 'adaptive' | 'budget' | 'never';
  /** Whether the model thinks if the request does not set the thinking. */
  thinksByDefault: boolean;
  /** How a request switches thinking off: by sending nothing, by a type of `thinking`, or not at all. */
  off: 'untold' | 'disabled' | 'between_tools' | 'impossible';
}

const adaptive: ModelFacts = {
  maxTokens: 128_000,
  answerTokens: 64_000,
  thinks: 'adaptive',
  thinksByDefault: true,
  off: 'impossible',
};
const budgeted: ModelFacts = {
  maxTokens: 64_000,
  answerTokens: 32_000,
  thinks: 'budget',
  thinksByDefault: false,
  off: 'untold',
};
const unthinking = (maxTokens: number): ModelFacts => ({
  ...budgeted,
  maxTokens,
  thinks: 'never',
});

/**
 * The first match counts. A model's name may contain a maker or a region before the part that is compared here, and a
 * date after that part.
 */
const byName: [RegExp, ModelFacts][] = [
  [/claude-(3-(opus|sonnet|haiku)|2|instant)/, unthinking(4_096)],
  [/claude-3-5/, unthinking(8_192)],
  [/claude-3-7/, budgeted],
  [
    /claude-(opus|sonnet|haiku)-4-[6-9](?!\d)/,
    { ...adaptive, thinksByDefault: false, off: 'untold' },
  ],
  [/claude-opus-4(?!-5(?!\d))/, { ...budgeted, maxTokens: 32_000 }],
  [/claude-(opus|sonnet|haiku)-4/, budgeted],
  [/claude-opus-5-5/, adaptive],
  [/claude-sonnet-5-5/, { ...adaptive, off: 'between_tools' }],
  [/claude-(opus|sonnet|haiku)-5/, { ...adaptive, off: 'disabled' }],
  [/claude/, adaptive],
];

/** The facts of another maker's model: the context is often small, and includes the answer. */
const another: ModelFacts = {
  ...budgeted,
  maxTokens: 32_768,
  answerTokens: 8_192,
  off: 'disabled',
};

/** @param listed - The model's facts from the server's list. */
export function factsOf(model: string, listed: Partial<ModelFacts> = {}): ModelFacts {
  const name = model.toLowerCase().replaceAll('.', '-');
  const [, facts] = byName.find(([pattern]) => pattern.test(name)) ?? [];
  return { ...(facts ?? another), ...listed };
}

/** Returns the facts in an entry of `/v1/models`; other servers have fewer fields. */
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

/** Returns the fields of a request that set the amount of thinking and the length of the answer. */
export function thinkingOf(facts: ModelFacts, effort: string | undefined): Thinking {
  const unchanged = { max_tokens: Math.min(facts.maxTokens, facts.answerTokens) };
  if (facts.thinks === 'never') return unchanged;
  if (effort === 'none') return { ...unchanged, ...withoutThinking(facts) };
  const level = effort !== undefined && isEffort(effort) ? effort : undefined;
  if (facts.thinks === 'adaptive') return { ...unchanged, ...adaptiveThinking(facts, level) };
  return level === undefined ? unchanged : budgetFor(facts, budgets[level]);
}

function withoutThinking(facts: ModelFacts): Partial<Thinking> {
  if (facts.off === 'untold') return {};
  if (facts.off === 'impossible') return adaptiveThinking(facts, 'low');
  return { thinking: { type: facts.off } };
}

function adaptiveThinking(facts: ModelFacts, effort: Effort | undefined): Partial<Thinking> {
  if (effort === undefined && !facts.thinksByDefault) return {};
  return {
    thinking: { type: 'adaptive', display: 'summarized' },
    ...(effort !== undefined && { output_config: { effort } }),
  };
}

/**
 * Returns the budget for thinking, which is part of `max_tokens`. At least half of `max_tokens` stays for the answer.
 */
function budgetFor({ maxTokens, answerTokens }: ModelFacts, wanted: number): Thinking {
  const budget = Math.min(wanted, Math.floor(maxTokens / 2));
  if (budget < smallestBudget) return { max_tokens: Math.min(maxTokens, answerTokens) };
  return {
    max_tokens: Math.min(maxTokens, answerTokens + budget),
    thinking: { type: 'enabled', budget_tokens: budget },
  };
}
