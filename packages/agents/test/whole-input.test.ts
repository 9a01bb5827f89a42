/**
 * For every agent, `inputTokens` is all input of a turn: here 100 new tokens, 10 written to the cache, and 20 read from
 * the cache.
 */
import type { Usage } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { TurnUsage } from '../src/kinds/acp/translate/usage.ts';
import { AnswerTranslator, type MessagesEvent } from '../src/own/makers/anthropic/translate.ts';
import { TurnWriter } from '../src/base/turn-writer.ts';
import { readOutcome } from '../src/kinds/claude-code/translate/outcome.ts';
import { CodexTurn } from '../src/kinds/codex/translate/turn.ts';
import { ChatTranslator } from '../src/own/makers/openai/chat/translate.ts';
import { ResponsesTranslator } from '../src/own/makers/openai/responses/translate.ts';
import { foldTurn } from '../src/testing/folding.ts';
import { streamOf } from '../src/testing/collected-turn.ts';
import { translateTurn } from '../src/testing/translated-turn.ts';
import type { EventDraft } from '@liminal/protocol';

const about = { turnId: 't', modelId: 'm', now: () => '2026-01-01T00:00:00.000Z' };

async function usageOf(drafts: AsyncIterable<EventDraft>): Promise<Usage | undefined> {
  return foldTurn(await Array.fromAsync(drafts), 't').usage;
}

const native = {
  input_tokens: 100,
  output_tokens: 5,
  cache_creation_input_tokens: 10,
  cache_read_input_tokens: 20,
};
const facts = { errorCategory: undefined, lastUsage: undefined, modelId: 'm', costUsd: undefined };
const success = { type: 'result', subtype: 'success', is_error: false } as const;
const told = { inputTokens: 130, outputTokens: 5, cacheReadInputTokens: 20 };
const all = { ...told, cacheCreationInputTokens: 10 };
const parts = { outputTokens: 5, cachedReadTokens: 20, cachedWriteTokens: 10 };

const agents: Record<string, [() => Promise<Usage | undefined>, Partial<Usage>]> = {
  'Claude Code, of one model': [
    async () => readOutcome({ ...success, usage: native }, facts).usage,
    all,
  ],
  'Claude Code, of all models': [
    async () => {
      const model = {
        inputTokens: 100,
        outputTokens: 5,
        cacheReadInputTokens: 20,
        cacheCreationInputTokens: 10,
      };
      return readOutcome({ ...success, model_usage_since_last_result: { m: model } }, facts).usage;
    },
    all,
  ],
  Codex: [
    async () => {
      const drafts: EventDraft[] = [];
      const writer = new TurnWriter('t', (draft) => drafts.push(draft));
      writer.at(about.now());
      writer.begin({ modelId: 'm', providerId: 'openai', trigger: 'user' }, undefined);
      const turn = new CodexTurn(writer, '/', 'thread');
      const last = { totalTokens: 135, inputTokens: 130, cachedInputTokens: 20, outputTokens: 5 };
      turn.read('thread/tokenUsage/updated', { tokenUsage: { last, modelContextWindow: null } });
      turn.end({ id: 't', status: 'completed', error: null });
      return foldTurn(drafts, 't').usage;
    },
    told,
  ],
  'an ACP agent that counts the parts separately': [
    async () => TurnUsage.parse({ ...parts, inputTokens: 100, totalTokens: 135 }),
    all,
  ],
  'an ACP agent that includes cached tokens': [
    async () => TurnUsage.parse({ ...parts, inputTokens: 130, totalTokens: 135 }),
    all,
  ],
  'an ACP agent without a total': [
    async () => TurnUsage.parse({ ...parts, inputTokens: 130 }),
    all,
  ],
  'the Messages API': [
    async () =>
      usageOf(
        translateTurn(
          streamOf([
            { type: 'message_start', message: { id: 'm', usage: native } },
            { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
            { type: 'message_stop' },
          ]),
          about,
          (writer) => {
            const translator = new AnswerTranslator(writer);
            return {
              read: (event) => translator.read(event as MessagesEvent),
              end: () => translator.answer(),
            };
          },
        ),
      ),
    all,
  ],
  'Chat Completions': [
    async () =>
      usageOf(
        translateTurn(
          streamOf([
            { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] },
            {
              usage: {
                prompt_tokens: 130,
                completion_tokens: 5,
                prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 10 },
              },
            },
          ]),
          about,
          (writer) => new ChatTranslator(writer),
        ),
      ),
    all,
  ],
  'the Responses API': [
    async () => {
      const usage = {
        input_tokens: 130,
        output_tokens: 5,
        input_tokens_details: { cached_tokens: 20 },
      };
      const response = { status: 'completed', output: [], usage };
      return usageOf(
        translateTurn(
          streamOf([{ type: 'response.completed', response }]),
          about,
          (writer) => new ResponsesTranslator(writer),
        ),
      );
    },
    told,
  ],
};

test.each(Object.entries(agents))('%s: the input is 130 tokens', async (_, [usage, expected]) => {
  expect(await usage()).toMatchObject(expected);
});
