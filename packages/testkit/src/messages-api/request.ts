import { z } from 'zod';

const ContentBlock = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  tool_use_id: z.string().optional(),
});

const Message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(ContentBlock)]),
});

/** The fields of a Messages API request that scripts read. All other fields are kept. */
const MessagesRequestBody = z.looseObject({
  model: z.string(),
  max_tokens: z.number().optional(),
  stream: z.boolean().optional(),
  system: z.union([z.string(), z.array(ContentBlock)]).optional(),
  messages: z.array(Message),
  tools: z.array(z.looseObject({ name: z.string().optional() })).optional(),
});

export type MessagesRequestBody = z.infer<typeof MessagesRequestBody>;

/**
 * The origin of a request: the session's own loop (`main`), one of its subagents, or the program itself (`side`: a
 * probe of a model, a title, a count). Scripts need no answers for requests of the program itself.
 */
export type RequestKind = 'main' | 'subagent' | 'side';

export interface MessagesRequest {
  kind: RequestKind;
  path: string;
  headers: Record<string, string>;
  body: MessagesRequestBody;
  /** The client's session id; empty if the client sends none. */
  sessionId: string;
  /** Claude Code's id of the subagent that sends the request; empty for the session's own loop. */
  agentId: string;
  /** The last message of the user (or of the parent agent), without the text that the client adds. */
  prompt: string;
  /** The number of user texts before `prompt`. This number distinguishes equal prompts of one session. */
  promptIndex: number;
  /** The results of the tools that were called since the model's last answer, by tool call id. */
  toolResults: Record<string, string>;
}

export function parseRequest(
  path: string,
  headers: Record<string, string>,
  json: unknown,
): MessagesRequest {
  const body = MessagesRequestBody.parse(json);
  const { prompt, promptIndex } = lastPrompt(body);
  const agentId = headers['x-claude-code-agent-id'] ?? '';
  return {
    kind: isSideCall(path, body, prompt) ? 'side' : agentId === '' ? 'main' : 'subagent',
    path,
    headers,
    body,
    sessionId: headers['x-claude-code-session-id'] ?? headers['x-session-id'] ?? '',
    agentId,
    prompt,
    promptIndex,
    toolResults: lastToolResults(body),
  };
}

/**
 * Whether the client itself made the request. One-token probes, suggestions and calls without tools come from the
 * client itself; requests of an agent's loop always contain tools.
 */
function isSideCall(path: string, body: MessagesRequestBody, prompt: string): boolean {
  return (
    path.includes('count_tokens') ||
    body.max_tokens === 1 ||
    (body.tools ?? []).length === 0 ||
    prompt.startsWith('[SUGGESTION MODE:')
  );
}

const isAddedByClient = (value: string): boolean =>
  /^\s*<(system-reminder|local-command-|command-name)/.test(value);

function promptTexts(message: z.infer<typeof Message>): string[] {
  if (message.role !== 'user') return [];
  const blocks =
    typeof message.content === 'string'
      ? [{ type: 'text', text: message.content }]
      : message.content;
  return blocks.flatMap((block) =>
    block.type === 'text' && block.text !== undefined && !isAddedByClient(block.text)
      ? [block.text]
      : [],
  );
}

const isInterruption = (text: string): boolean => text.startsWith('[Request interrupted by user');

/**
 * Returns the last prompt. If a turn was stopped before the model answered, Claude Code puts the next prompt into the
 * same message.
 */
function lastPrompt(body: MessagesRequestBody): { prompt: string; promptIndex: number } {
  const perMessage = body.messages.map(promptTexts);
  const last = perMessage.findLastIndex((texts) => texts.length > 0);
  const texts = perMessage[last] ?? [];
  const start = texts.slice(0, -1).findLastIndex(isInterruption) + 1;
  const before = perMessage.slice(0, Math.max(last, 0)).flat().length;
  return { prompt: texts.slice(start).join('\n'), promptIndex: before + start };
}

function lastToolResults(body: MessagesRequestBody): Record<string, string> {
  const start = body.messages.findLastIndex((message) => message.role === 'assistant');
  const blocks = body.messages
    .slice(start + 1)
    .flatMap((message) => (typeof message.content === 'string' ? [] : message.content));
  return Object.fromEntries(
    blocks.flatMap((block) =>
      block.tool_use_id === undefined ? [] : [[block.tool_use_id, resultText(block['content'])]],
    ),
  );
}

const resultText = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content);
