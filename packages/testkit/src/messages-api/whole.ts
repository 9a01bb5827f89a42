import type { ServerResponse } from 'node:http';
import { sendJson } from '../scripted-server/loopback.ts';
import type { ErrorReply, MessageReply, ReplyBlock } from './reply.ts';
import { messageShell, playSilently, toolUseId, type MessageFrame } from './stream.ts';

/** Sends the whole answer to a request without streaming, such as the client's fallback after broken streams. */
export async function sendWhole(
  response: ServerResponse,
  frame: MessageFrame,
  answer: MessageReply,
): Promise<void> {
  await playSilently(response, answer);
  sendJson(response, 200, {
    ...messageShell(frame, answer),
    content: answer.blocks.map((block, index) => wholeBlock(frame, index, block)),
    stop_reason: answer.stopReason,
    usage: answer.usage,
  });
}

export const sendError = (response: ServerResponse, answer: ErrorReply): void =>
  sendJson(response, answer.status, { type: 'error', error: answer.error }, answer.headers);

function wholeBlock(
  frame: MessageFrame,
  index: number,
  block: ReplyBlock,
): Record<string, unknown> {
  const value = block.parts.filter((part) => typeof part === 'string').join('');
  switch (block.type) {
    case 'text':
      return { type: 'text', text: value };
    case 'thinking':
      return { type: 'thinking', thinking: value, signature: block.signature };
    case 'tool_use':
      return {
        type: 'tool_use',
        id: toolUseId(frame, index, block.id),
        name: block.name,
        input: JSON.parse(value),
      };
    case 'given':
      return block.block;
  }
}
