import { z } from 'zod';

const InputItem = z.looseObject({
  type: z.string().default('message'),
  role: z.string().optional(),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
    .nullish(),
  call_id: z.string().optional(),
  output: z.unknown().optional(),
});

/** The fields of a Responses API request that scripts read. All other fields are kept. */
const ResponsesRequestBody = z.looseObject({
  model: z.string(),
  instructions: z.string().nullish(),
  stream: z.boolean().optional(),
  input: z.union([z.string(), z.array(InputItem)]),
  tools: z
    .array(z.looseObject({ type: z.string(), name: z.string().optional() }))
    .nullish()
    .transform((tools) => tools ?? []),
  prompt_cache_key: z.string().optional(),
});

type ResponsesRequestBody = z.infer<typeof ResponsesRequestBody>;
type InputItem = z.infer<typeof InputItem>;

export interface ResponsesRequest {
  path: string;
  headers: Record<string, string>;
  body: ResponsesRequestBody;
  /** The client's key for caching prompts. Codex sets this key to its session id; for other clients, it is empty. */
  sessionId: string;
  /** The user's last message, without the text that the client adds. */
  prompt: string;
  /** The number of items before `prompt`. This number distinguishes equal prompts of one session. */
  promptIndex: number;
  /** The outputs of the tools that were called since the model's last answer, by call id. */
  toolResults: Record<string, string>;
  /** Resolves when the client ends the connection before its answer is complete. */
  left: Promise<void>;
}

export function parseRequest(
  path: string,
  headers: Record<string, string>,
  json: unknown,
  left: Promise<void>,
): ResponsesRequest {
  const body = ResponsesRequestBody.parse(json);
  const items = typeof body.input === 'string' ? [userMessage(body.input)] : body.input;
  return {
    path,
    headers,
    body,
    sessionId: body.prompt_cache_key ?? '',
    ...lastPrompt(items),
    toolResults: lastToolResults(items),
    left,
  };
}

const userMessage = (text: string): InputItem =>
  InputItem.parse({ type: 'message', role: 'user', content: text });

/** Whether the client added the text. Codex describes its environment to the model in messages with the role `user`. */
const isAddedByClient = (text: string): boolean =>
  /^\s*(<(environment_context|user_instructions|turn_aborted|permissions)|# AGENTS\.md)/.test(text);

function promptTexts(item: InputItem): string[] {
  if (item.type !== 'message' || item.role !== 'user') return [];
  const blocks = typeof item.content === 'string' ? [{ text: item.content }] : (item.content ?? []);
  return blocks.flatMap(({ text }) => (text === undefined || isAddedByClient(text) ? [] : [text]));
}

function lastPrompt(items: InputItem[]): { prompt: string; promptIndex: number } {
  const promptIndex = items.findLastIndex((item) => promptTexts(item).length > 0);
  const item = items[promptIndex];
  return { prompt: item === undefined ? '' : promptTexts(item).join('\n'), promptIndex };
}

const isOfTheModel = (item: InputItem): boolean =>
  item.role === 'assistant' ||
  ['reasoning', 'function_call', 'custom_tool_call'].includes(item.type);

function lastToolResults(items: InputItem[]): Record<string, string> {
  const start = items.findLastIndex(isOfTheModel);
  return Object.fromEntries(
    items
      .slice(start + 1)
      .flatMap(({ call_id: callId, output }) =>
        callId === undefined || output === undefined ? [] : [[callId, outputText(output)]],
      ),
  );
}

const outputText = (output: unknown): string =>
  typeof output === 'string' ? output : JSON.stringify(output);
