import { expect, test } from 'vitest';
import { factsListed, factsOf, thinkingOf } from './model-facts.ts';

const shown = { type: 'adaptive', display: 'summarized' };
const of = (model: string, effort?: string, listed?: object) =>
  thinkingOf(factsOf(model, listed), effort);

test.each([
  ['claude-3-opus-20240229', 4_096],
  ['claude-3-5-haiku-latest', 8_192],
  ['claude-3-7-sonnet-latest', 32_000],
  ['claude-opus-4-20250514', 32_000],
  ['claude-opus-4-1', 32_000],
  ['claude-opus-4-5-20251101', 32_000],
  ['claude-opus-4-6', 64_000],
  ['us.anthropic.claude-sonnet-5-v1:0', 64_000],
  ['claude-of-tomorrow', 64_000],
  ['qwen3-coder:30b', 8_192],
])('the answer of %s may have %i tokens', (model, tokens) => {
  expect(of(model).max_tokens).toBe(tokens);
});

test.each(['claude-opus-4-6', 'anthropic/claude-sonnet-4.6', 'claude-opus-5-5', 'claude-next-9'])(
  'for the model %s, the amount of thinking is sent as an effort',
  (model) => {
    expect(of(model, 'medium')).toEqual({
      max_tokens: 64_000,
      thinking: shown,
      output_config: { effort: 'medium' },
    });
  },
);

test.each([
  ['claude-sonnet-4-5', 'low', 4_096, 36_096],
  ['claude-haiku-4-5-20251001', 'high', 24_576, 56_576],
  ['claude-opus-4-1', 'high', 16_000, 32_000],
  ['qwen3', 'medium', 12_288, 20_480],
])(
  'the model %s, with %s effort, may think %i of %i tokens',
  (model, effort, budget_tokens, max_tokens) => {
    expect(of(model, effort)).toEqual({
      max_tokens,
      thinking: { type: 'enabled', budget_tokens },
    });
  },
);

test.each(['claude-3-haiku-20240307', 'claude-3-5-sonnet-latest'])(
  'the model %s cannot think',
  (model) => {
    expect(of(model, 'high').thinking).toBeUndefined();
  },
);

test.each([
  ['claude-sonnet-4-5', undefined],
  ['claude-opus-4-8', undefined],
  ['claude-opus-5', { type: 'disabled' }],
  ['claude-haiku-5-5', { type: 'disabled' }],
  ['claude-sonnet-5-5', { type: 'between_tools' }],
  ['qwen3', { type: 'disabled' }],
])('the thinking of the model %s is switched off by %j', (model, thinking) => {
  expect(of(model, 'none').thinking).toEqual(thinking);
  expect(of(model, 'none').output_config).toBeUndefined();
});

test.each(['claude-opus-5-5', 'claude-fable-5-1', 'claude-mythos-5'])(
  'the model %s always thinks, with low effort if no thinking was requested',
  (model) => {
    expect(of(model, 'none')).toMatchObject({ thinking: shown, output_config: { effort: 'low' } });
  },
);

test('if no effort is set, a model that thinks by default is asked for its thinking as text', () => {
  expect(of('claude-opus-5')).toEqual({ max_tokens: 64_000, thinking: shown });
  expect(of('claude-opus-4-7')).toEqual({ max_tokens: 64_000 });
  expect(of('claude-sonnet-4-5', 'a lot')).toEqual({ max_tokens: 32_000 });
});

test('facts listed by the server override facts from the model’s name', () => {
  const supports = (...types: string[]) => ({
    thinking: {
      types: Object.fromEntries(
        ['adaptive', 'enabled', 'disabled', 'between_tools'].map((type) => [
          type,
          { supported: types.includes(type) },
        ]),
      ),
    },
  });
  const listed = (max_tokens: number, ...types: string[]) =>
    factsListed({ id: 'x', max_tokens, capabilities: supports(...types) });
  expect(of('own-model', 'low', listed(2_000, 'adaptive', 'disabled'))).toEqual({
    max_tokens: 2_000,
    thinking: shown,
    output_config: { effort: 'low' },
  });
  const betweenTools = listed(9_000, 'enabled', 'between_tools');
  expect(of('claude-opus-5-5', 'none', betweenTools).thinking).toEqual({ type: 'between_tools' });
  expect(of('claude-opus-5-5', 'high', betweenTools)).toEqual({
    max_tokens: 9_000,
    thinking: { type: 'enabled', budget_tokens: 4_500 },
  });
  expect(of('claude-opus-5-5', 'high', listed(9_000))).toEqual({ max_tokens: 9_000 });
  // A thinking budget must be at least 1,024 tokens.
  expect(of('own-model', 'high', listed(2_000, 'enabled'))).toEqual({ max_tokens: 2_000 });
  expect(factsListed({ id: 'x', max_tokens: null, capabilities: null })).toEqual({});
});
