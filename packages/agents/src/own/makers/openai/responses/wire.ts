/** The fields of the Responses API's stream that are read. */
import { z } from 'zod';

const TextPart = z.looseObject({ type: z.string().optional(), text: z.string().optional() });

/** An item of the output: announced by `output_item.added`, and complete in `output_item.done`. */
export const ResponseItem = z.looseObject({
  type: z.string(),
  id: z.string().nullish(),
  /** message, reasoning */
  content: z.array(z.looseObject({ ...TextPart.shape, refusal: z.string().optional() })).nullish(),
  phase: z.string().nullish(),
  /** reasoning */
  summary: z.array(TextPart).nullish(),
  encrypted_content: z.string().nullish(),
  /** function_call */
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: z.string().nullish(),
  /** web_search_call */
  status: z.string().nullish().catch(undefined),
  action: z
    .looseObject({
      type: z.string().nullish(),
      query: z.string().nullish(),
      queries: z.array(z.string()).nullish(),
      url: z.string().nullish(),
      pattern: z.string().nullish(),
      sources: z.array(z.unknown()).nullish(),
    })
    .nullish()
    .catch(undefined),
});
export type ResponseItem = z.infer<typeof ResponseItem>;

const count = z.number().nonnegative();

const ToolUsage = z.looseObject({
  web_search: z.looseObject({ num_requests: count.nullish() }).nullish(),
});

export const ResponseObject = z.looseObject({
  status: z.string().nullish().catch(undefined),
  output: z.array(z.unknown()).nullish().catch(undefined),
  error: z.unknown().optional(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish().catch(undefined),
  usage: z
    .looseObject({
      input_tokens: count.nullish(),
      output_tokens: count.nullish(),
      input_tokens_details: z.looseObject({ cached_tokens: count.nullish() }).nullish(),
    })
    .nullish()
    .catch(undefined),
  tool_usage: ToolUsage.nullish().catch(undefined),
});
export type ResponseObject = z.infer<typeof ResponseObject>;

export const ResponsesEvent = z.looseObject({
  type: z.string(),
  output_index: z.number().optional(),
  item_id: z.string().nullish(),
  content_index: z.number().optional(),
  summary_index: z.number().optional(),
  delta: z.string().optional(),
  arguments: z.string().optional(),
  item: z.unknown().optional(),
  response: z.unknown().optional(),
});
export type ResponsesEvent = z.infer<typeof ResponsesEvent>;
