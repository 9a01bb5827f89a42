import type { OutputItem } from '@liminal/protocol';
import type { OpenAI } from 'openai';
import { commonSounds } from '../../../../base/accepted-content.ts';
import type { ModelRequest } from '../../../loop/model-client.ts';
import {
  type CallOutput,
  dataUrl,
  type CallItem,
  missing,
  ownRaw,
  type MessagePart,
  messageParts,
  validArguments,
  validName,
} from '../conversation.ts';

type ChatRequestBody = OpenAI.ChatCompletionCreateParamsStreaming;
type ChatMessage = OpenAI.ChatCompletionMessageParam;
type UserPart = OpenAI.ChatCompletionContentPart;
type ToolCall = OpenAI.ChatCompletionMessageFunctionToolCall;

/**
 * Returns the body of a Chat Completions request. Reasoning is left out, because this API has no field for it, except
 * with calls to a server that requires the reasoning. System messages for people, plans, approvals and errors are left
 * out as well.
 */
export function chatRequest(request: ModelRequest): ChatRequestBody {
  const { model, instructions, conversation, tools, effort, isWithoutCalls } = request;
  const { reasoningField } = request;
  const system: ChatMessage[] =
    instructions === '' ? [] : [{ role: 'system', content: instructions }];
  return {
    model,
    messages: [...system, ...messagesOf(conversation, reasoningField)],
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: 'function' as const, function: tool })),
    }),
    ...(isWithoutCalls === true && tools.length > 0 && { tool_choice: 'none' as const }),
    ...(effort !== undefined && { reasoning_effort: effort as OpenAI.ReasoningEffort }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** All successive items of one role: the user's or the model's. */
type RoleMessage =
  | { role: 'user'; parts: MessagePart[] }
  | { role: 'assistant'; text: string; reasoning: string; calls: CallItem[] };

function messagesOf(
  conversation: readonly OutputItem[],
  reasoningField: string | undefined,
): ChatMessage[] {
  const outputs = new Outputs(conversation);
  return groupByRole(conversation).flatMap((speech) => {
    if (speech.role === 'user')
      return [{ role: 'user' as const, content: userContent(speech.parts) }];
    const { text, calls, reasoning } = speech;
    const details = calls.map((call) => ownRaw(call)?.['reasoning_details']).find(Array.isArray);
    const answer: ChatMessage = {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
      // OpenRouter's models reject calls without these reasoning details.
      ...(details !== undefined && { reasoning_details: details }),
      ...(calls.length > 0 && reasoningField !== undefined && { [reasoningField]: reasoning }),
    };
    // The outputs of the calls must come before any other message.
    return [answer, ...outputs.of(calls)];
  });
}

/** Joins successive items of one role, because some models accept only one message of a role in a row. */
function groupByRole(conversation: readonly OutputItem[]): RoleMessage[] {
  const all: RoleMessage[] = [];
  const assistant = (): Extract<RoleMessage, { role: 'assistant' }> => {
    const last = all.at(-1);
    if (last?.role === 'assistant') return last;
    const speech = { role: 'assistant', text: '', reasoning: '', calls: [] } satisfies RoleMessage;
    all.push(speech);
    return speech;
  };
  let isAnswered = false;
  let thought = '';
  for (const item of conversation) {
    const answer = messageFrom(item, 'agent');
    const asked = messageFrom(item, 'user');
    if (item.type === 'function_call_output') isAnswered = true;
    if (isAnswered && (answer !== undefined || item.type === 'function_call')) {
      // After an output, the model's next item begins its next answer.
      all.push({ role: 'assistant', text: '', reasoning: '', calls: [] });
      isAnswered = false;
    }
    if (item.type === 'reasoning') thought += item.content;
    if (item.type === 'function_call') assistant().calls.push(item);
    if (answer !== undefined) assistant().text += answer.content;
    if (answer !== undefined || item.type === 'function_call') {
      assistant().reasoning += thought;
      thought = '';
    }
    if (asked === undefined) continue;
    thought = '';
    const parts = messageParts(asked.content, asked.blocks);
    const last = all.at(-1);
    if (last?.role === 'user') last.parts.push(...parts);
    else all.push({ role: 'user', parts });
  }
  return all.filter((speech) =>
    speech.role === 'user'
      ? speech.parts.length > 0
      : speech.text !== '' || speech.calls.length > 0,
  );
}

type MessageItem = Extract<OutputItem, { type: 'message' }>;

const messageFrom = (item: OutputItem, origin: MessageItem['origin']): MessageItem | undefined =>
  item.type === 'message' && item.origin === origin ? item : undefined;

function toolCall(call: CallItem): ToolCall {
  const { callId, name, arguments: input } = call;
  // Gemini rejects a call without the extra content that came with the call.
  const extra = ownRaw(call)?.['extra_content'];
  return {
    id: callId,
    type: 'function',
    function: { name: validName(name), arguments: validArguments(input) },
    ...(extra !== undefined && { extra_content: extra }),
  };
}

/** The outputs of a conversation. Each output is used once, because call ids may be repeated. */
class Outputs {
  readonly #byCall = new Map<string, CallOutput[]>();

  constructor(conversation: readonly OutputItem[]) {
    for (const item of conversation) {
      if (item.type !== 'function_call_output') continue;
      const known = this.#byCall.get(item.callId);
      if (known === undefined) this.#byCall.set(item.callId, [item]);
      else known.push(item);
    }
  }

  /**
   * Returns the outputs in the order of the calls, then a user message with the parts that a tool message cannot
   * contain.
   */
  of(calls: readonly CallItem[]): ChatMessage[] {
    const taken = calls.flatMap(({ callId, name }) => {
      const output = this.#byCall.get(callId)?.shift();
      return output === undefined ? [] : [{ name, output }];
    });
    const messages = taken.map(({ output: { callId, output } }): ChatMessage => {
      return { role: 'tool', tool_call_id: callId, content: output };
    });
    const shown = taken.flatMap(({ name, output: { blocks = [] } }): MessagePart[] =>
      blocks.length === 0 ? [] : messageParts(`From the tool ${name}:`, blocks),
    );
    if (shown.length === 0) return messages;
    return [...messages, { role: 'user', content: userContent(shown) }];
  }
}

/** Returns text without other parts as one string, because some servers accept no parts. */
function userContent(parts: readonly MessagePart[]): string | UserPart[] {
  const sent = parts.map((part) =>
    isUnknownAudio(part) ? missing(part.name, part.mimeType) : part,
  );
  const words = sent.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return words.length === sent.length ? words.join('\n\n') : sent.map(userPart);
}

const isUnknownAudio = (part: MessagePart): part is Exclude<MessagePart, { type: 'text' }> =>
  part.type === 'audio' && commonSounds[part.mimeType] === undefined;

function userPart(part: MessagePart): UserPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: dataUrl(part) } };
    case 'audio': {
      const format = commonSounds[part.mimeType] ?? 'wav';
      return { type: 'input_audio', input_audio: { data: part.data, format } };
    }
    case 'file':
      return { type: 'file', file: { filename: part.name, file_data: dataUrl(part) } };
  }
}
