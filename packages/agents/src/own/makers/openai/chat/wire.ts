/**
 * The fields of a `chat.completion.chunk` that are read: those of the official API reference, in every shape that
 * servers send. A field of another shape is not parsed, and the translator stores it as raw data.
 */
import { z } from 'zod';

const CallPiece = z.looseObject({
  index: z.number().nullish().catch(undefined),
  id: z.string().nullish().catch(undefined),
  function: z
    .looseObject({ name: z.string().nullish().catch(undefined), arguments: z.unknown().optional() })
    .nullish(),
});
export type CallPiece = z.infer<typeof CallPiece>;

export const Delta = z.looseObject({
  content: z.unknown().optional(),
  /** DeepSeek, vLLM, llama.cpp. */
  reasoning_content: z.unknown().optional(),
  /** Sent by Ollama, OpenRouter and newer vLLM. */
  reasoning: z.unknown().optional(),
  /** OpenRouter. */
  reasoning_details: z.unknown().optional(),
  refusal: z.unknown().optional(),
  tool_calls: z.array(CallPiece).nullish(),
  /** The older form of a tool call. */
  function_call: z
    .looseObject({ name: z.string().nullish(), arguments: z.unknown().optional() })
    .nullish(),
});
export type Delta = z.infer<typeof Delta>;

const count = z.number().nonnegative();

export const ChatUsage = z.looseObject({
  prompt_tokens: count.nullish(),
  completion_tokens: count.nullish(),
  prompt_tokens_details: z
    .looseObject({
      cached_tokens: count.nullish(),
      /** OpenRouter. */
      cache_write_tokens: count.nullish(),
    })
    .nullish(),
});

export const Chunk = z.looseObject({
  id: z.string().nullish().catch(undefined),
  choices: z
    .array(
      z.looseObject({
        index: z.number().nullish().catch(undefined),
        delta: Delta.nullish(),
        /** An answer that is not streamed has this field instead of `delta`. */
        message: Delta.nullish(),
        finish_reason: z.string().nullish().catch(undefined),
      }),
    )
    .nullish(),
  usage: ChatUsage.nullish().catch(undefined),
});
