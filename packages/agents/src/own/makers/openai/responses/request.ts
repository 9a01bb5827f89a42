import type { OutputItem } from '@liminal/protocol';
import type { OpenAI } from 'openai';
import type { ModelRequest, ToolDefinition } from '../../../loop/model-client.ts';
import {
  dataUrl,
  type CallItem,
  missing,
  ownRaw,
  type MessagePart,
  messageParts,
  validArguments,
  validName,
} from '../conversation.ts';

type ResponsesRequestBody = OpenAI.Responses.ResponseCreateParamsStreaming;
type InputItem = OpenAI.Responses.ResponseInputItem;
type InputPart = OpenAI.Responses.ResponseInputContent;

export interface ResponsesOptions {
  /** Whether the model may search the web with the maker's own tool. */
  webSearch?: boolean | undefined;
}

/**
 * Returns the body of a Responses request. The server stores nothing, so the server encrypts the model's reasoning and
 * sends it, and the next request contains the encrypted reasoning again. The request leaves out system messages for
 * people, plans, approvals, errors, and reasoning of other makers.
 */
export function responsesRequest(
  request: ModelRequest,
  { webSearch = false }: ResponsesOptions = {},
): ResponsesRequestBody {
  const { model, instructions, conversation, tools, effort, isWithoutCalls } = request;
  const { made = new WeakMap() } = request;
  // Without any tools, the request has no search tool.
  const searches = webSearch && tools.length > 0;
  const searched = new Set(
    conversation.flatMap((item) => (isNativeSearch(item) ? item.callId : [])),
  );
  return {
    model,
    ...(instructions !== '' && { instructions }),
    input: conversation.flatMap((item, index) => {
      if (item.type === 'reasoning' && !continuesAnswer(conversation[index + 1])) return [];
      // The item of a search by the server also contains the search's result.
      if (item.type === 'function_call_output' && searched.has(item.callId)) return [];
      return once(made, item, toInputItems);
    }),
    ...(tools.length > 0 && {
      tools: [
        ...tools.map((tool) => once(made, tool, toolOf)),
        ...(searches ? [{ type: 'web_search' as const }] : []),
      ],
    }),
    ...(isWithoutCalls === true && tools.length > 0 && { tool_choice: 'none' as const }),
    reasoning: {
      ...(effort !== undefined && { effort: effort as OpenAI.ReasoningEffort }),
      summary: 'auto',
    },
    include: [
      'reasoning.encrypted_content',
      ...(searches ? (['web_search_call.action.sources'] as const) : []),
    ],
    store: false,
    stream: true,
  };
}

function once<From extends object, To>(
  made: WeakMap<object, unknown>,
  from: From,
  make: (from: From) => To,
): To {
  if (!made.has(from)) made.set(from, make(from));
  return made.get(from) as To;
}

// The tool is not strict, because a strict schema cannot have optional fields.
const toolOf = (tool: ToolDefinition): OpenAI.Responses.FunctionTool => ({
  ...tool,
  type: 'function',
  strict: false,
});

function toInputItems(item: OutputItem): InputItem[] {
  switch (item.type) {
    case 'message':
      return messageInput(item);
    case 'reasoning':
      return reasoningOf(item);
    case 'function_call': {
      if (isNativeSearch(item)) return [givenItem(ownRaw(item))];
      const { callId, name, arguments: input } = item;
      const sent = { name: validName(name), arguments: validArguments(input) };
      return [{ type: 'function_call', call_id: callId, ...sent }];
    }
    case 'function_call_output': {
      const { callId, output, blocks = [] } = item;
      const parts = messageParts(output, blocks).map(outputPart);
      return [
        {
          type: 'function_call_output',
          call_id: callId,
          output: blocks.length === 0 ? output : parts,
        },
      ];
    }
    default:
      return [];
  }
}

/** Returns whether the item is a web search by a server with this API; such an item is sent back unchanged. */
const isNativeSearch = (item: OutputItem): item is CallItem =>
  item.type === 'function_call' && ownRaw(item)?.['type'] === 'web_search_call';

const givenItem = (item: unknown): InputItem => item as InputItem;

function messageInput(item: Extract<OutputItem, { type: 'message' }>): InputItem[] {
  const { origin, content, blocks = [] } = item;
  if (origin === 'system' || (content === '' && blocks.length === 0)) return [];
  if (origin === 'user') {
    const parts = messageParts(content, blocks);
    return [{ role: 'user', content: blocks.length === 0 ? content : parts.map(inputPart) }];
  }
  const phase = ownRaw(item)?.['phase'];
  const isPhase = phase === 'commentary' || phase === 'final_answer';
  // llama.cpp does not recognize an item without `type`.
  return [{ type: 'message', role: 'assistant', content, ...(isPhase && { phase }) }];
}

/**
 * Returns whether the next item belongs to the same answer: the server accepts reasoning only before the item that the
 * reasoning led to.
 */
const continuesAnswer = (next: OutputItem | undefined): boolean =>
  next?.type === 'function_call' ||
  next?.type === 'reasoning' ||
  (next?.type === 'message' && next.origin === 'agent');

function reasoningOf(item: OutputItem): InputItem[] {
  const own = ownRaw(item);
  const { id, encrypted_content: encrypted } = own ?? {};
  // llama.cpp sends an empty text as the encrypted content.
  if (typeof encrypted !== 'string' || encrypted === '') return [];
  return [
    {
      type: 'reasoning',
      // The server recognizes its reasoning by the encrypted content, so the id may be any text.
      ...(typeof id === 'string' ? { id } : { id: item.id }),
      summary: [],
      encrypted_content: encrypted,
    },
  ];
}

function inputPart(part: MessagePart): InputPart {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return { type: 'input_image', detail: 'auto', image_url: dataUrl(part) };
    case 'file':
      return { type: 'input_file', filename: part.name, file_data: dataUrl(part) };
    // This API does not support audio.
    case 'audio':
      return inputPart(missing(part.name, part.mimeType));
  }
}

type OutputPart = OpenAI.Responses.ResponseFunctionCallOutputItem;

const outputPart = (part: MessagePart): OutputPart => inputPart(part);
