import type { Response } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { promptEnd } from './prompt-end.ts';

type Ended = Parameters<typeof promptEnd>[0];
const ended = (more: Partial<Response> = {}): Ended => ({
  status: 'complete',
  finishReason: null,
  ...more,
});

test.each(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'])(
  'FR-039-01: if a turn ended with the reason %s, its stop reason is the same',
  (finishReason) => {
    expect(promptEnd(ended({ finishReason }))).toEqual({ stopReason: finishReason });
  },
);

test.each([
  ['length', 'max_tokens'],
  ['model_length', 'max_tokens'],
  ['max_output_tokens', 'max_tokens'],
  ['model_context_window_exceeded', 'max_tokens'],
  ['content_filter', 'refusal'],
  ['safety', 'refusal'],
])(
  'FR-039-01: if a model’s own finish reason is %s, the stop reason is %s',
  (finishReason, stopReason) => {
    expect(promptEnd(ended({ finishReason }))).toEqual({ stopReason });
  },
);

test.each([null, 'stop', 'tool_calls'])(
  'FR-039-01: if ACP lacks a finish reason (%s), the stop reason is end_turn',
  (finishReason) => {
    expect(promptEnd(ended({ finishReason }))).toEqual({ stopReason: 'end_turn' });
  },
);

test('FR-039-01: if a turn was stopped, its stop reason is cancelled, whatever reason the agent reports', () => {
  expect(promptEnd(ended({ status: 'aborted', finishReason: 'end_turn' }))).toEqual({
    stopReason: 'cancelled',
  });
});

test('FR-039-01: the response contains a turn’s token counts, if they are known', () => {
  const usage = {
    inputTokens: 3,
    outputTokens: 5,
    cacheReadInputTokens: 2,
    cacheCreationInputTokens: 1,
  };
  expect(promptEnd(ended({ usage }))).toEqual({
    stopReason: 'end_turn',
    usage: {
      inputTokens: 3,
      outputTokens: 5,
      totalTokens: 8,
      cachedReadTokens: 2,
      cachedWriteTokens: 1,
    },
  });
});

test('if a turn failed, the response is an error with Liminal’s code and without a stack', () => {
  const error = { code: 'OVERLOADED', message: 'The model is busy.', details: { after: 3 } };
  const failed = ended({ status: 'error', error: { ...error, stack: 'at home' } });
  expect(() => promptEnd(failed)).toThrow(
    expect.objectContaining({ code: -32_603, message: error.message, data: error }),
  );
  const unexplained = { code: 'TURN_FAILED', message: 'The turn failed.' };
  expect(() => promptEnd(ended({ status: 'error' }))).toThrow(
    expect.objectContaining({ message: unexplained.message, data: unexplained }),
  );
});

test('if a turn was stopped because of an error, the response is that error', () => {
  const error = { code: 'AGENT_GONE', message: 'The agent ended.' };
  expect(() => promptEnd(ended({ status: 'aborted', error }))).toThrow(
    expect.objectContaining({ message: error.message, data: error }),
  );
});

test('FR-039-01: if an agent does not report the cached tokens of a turn, the response has no counts for them', () => {
  const usage = { inputTokens: 3, outputTokens: 5 };
  expect(promptEnd(ended({ usage }))).toStrictEqual({
    stopReason: 'end_turn',
    usage: { ...usage, totalTokens: 8 },
  });
});

test('if the idle limit ended a turn, the response is a stop reason instead of an error', () => {
  const error = { code: 'IDLE_TIMEOUT', message: 'The agent was silent.', stack: 'at home' };
  const { stack: _, ...diagnosis } = error;
  expect(promptEnd(ended({ status: 'error', error }))).toEqual({
    stopReason: 'cancelled',
    _meta: { liminal: { error: diagnosis } },
  });
});
