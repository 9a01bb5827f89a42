import { z } from 'zod';
import type { ListedModel } from '../../loop/model-client.ts';

/** The most models that are read from a list. */
const maxModels = 2_000;

const name = z.string().optional().catch(undefined);
const size = z.number().positive().optional().catch(undefined);

/**
 * OpenAI sends only `id`. The other fields come from vLLM, OpenRouter, Groq, LM Studio, llama.cpp, and Ollama's own
 * list.
 */
const ModelEntry = z.looseObject({
  id: name,
  /** Seconds since the epoch. */
  created: size,
  model: name,
  name,
  display_name: name,
  max_model_len: size,
  context_length: size,
  context_window: size,
  max_context_length: size,
  /** The request fields that the model supports. Only OpenRouter sends this list. */
  supported_parameters: z.array(z.unknown()).optional().catch(undefined),
  /** Mistral’s. */
  capabilities: z
    .looseObject({ function_calling: z.boolean().optional().catch(undefined) })
    .optional()
    .catch(undefined),
  /**
   * The context size with which llama.cpp's server was started, and the context size with which the model was trained.
   */
  meta: z.looseObject({ n_ctx: size, n_ctx_train: size }).nullish().catch(undefined),
});

const List = z.looseObject({
  data: z.array(z.unknown()).nullish().catch(undefined),
  models: z.array(z.unknown()).nullish().catch(undefined),
});

/** Matches names of models that cannot be used for conversations. Most models in OpenAI's list are of this kind. */
const speechless =
  /embedding|whisper|tts|dall-e|image|audio|realtime|transcribe|moderation|search|instruct|davinci|babbage|sora|computer-use/i;

/** Returns OpenAI's own models that can be used for conversations, newest first, because OpenAI's list has no order. */
export function readOwnModels(answer: unknown): ListedModel[] {
  const entries = entriesOf(answer)
    .map((entry) => ModelEntry.safeParse(entry).data)
    .filter((entry) => entry !== undefined);
  const speaking = entries.filter(({ id = '' }) => !speechless.test(id));
  return modelsOf(speaking.toSorted((a, b) => (b.created ?? 0) - (a.created ?? 0)));
}

/** Returns the models in a response to `/models`. A server without models may send `data: null`. */
export function readModels(answer: unknown): ListedModel[] {
  return modelsOf(entriesOf(answer));
}

function entriesOf(answer: unknown): unknown[] {
  const list = List.safeParse(Array.isArray(answer) ? { data: answer as unknown[] } : answer).data;
  return list?.data ?? list?.models ?? [];
}

function modelsOf(entries: readonly unknown[]): ListedModel[] {
  return entries.slice(0, maxModels).flatMap((entry) => {
    const parsed = ModelEntry.safeParse(entry).data;
    const id = parsed?.id ?? parsed?.model ?? parsed?.name;
    if (parsed === undefined || id === undefined || id === '') return [];
    const shown = parsed.display_name ?? parsed.name;
    return [
      {
        id,
        name: shown === id ? undefined : shown,
        contextWindow:
          parsed.max_model_len ??
          parsed.context_length ??
          parsed.context_window ??
          parsed.max_context_length ??
          parsed.meta?.n_ctx ??
          parsed.meta?.n_ctx_train,
        callsTools:
          parsed.supported_parameters?.includes('tools') ?? parsed.capabilities?.function_calling,
      },
    ];
  });
}
