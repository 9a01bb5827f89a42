import { z } from 'zod';

const Message = z.looseObject({
  role: z.string(),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
    .nullish(),
  tool_call_id: z.string().optional(),
});
type Message = z.infer<typeof Message>;

/** The fields of a Chat Completions request that scripts read. All other fields are kept. */
const ChatRequestBody = z.looseObject({
  model: z.string(),
  messages: z.array(Message),
  stream: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
});
type ChatRequestBody = z.infer<typeof ChatRequestBody>;

export interface ChatRequest {
  path: string;
  headers: Record<string, string>;
  body: ChatRequestBody;
  /** The user's last message. */
  prompt: string;
  /** The number of messages before `prompt`. */
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
): ChatRequest {
  const body = ChatRequestBody.parse(json);
  const promptIndex = body.messages.findLastIndex(({ role }) => role === 'user');
  const answered = body.messages.findLastIndex(({ role }) => role === 'assistant');
  const results = body.messages
    .slice(answered + 1)
    .flatMap((message) =>
      message.tool_call_id === undefined ? [] : [[message.tool_call_id, wordsOf(message)]],
    );
  return {
    path,
    headers,
    body,
    prompt: wordsOf(body.messages[promptIndex]),
    promptIndex,
    toolResults: Object.fromEntries(results) as Record<string, string>,
    left,
  };
}

function wordsOf(message: Message | undefined): string {
  const content = message?.content ?? '';
  if (typeof content === 'string') return content;
  return content.flatMap(({ text }) => (text === undefined ? [] : [text])).join('\n');
}
