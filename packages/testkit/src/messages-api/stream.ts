import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import type { MessageReply, Part, ReplyBlock } from './reply.ts';

/** Thrown to stop playing a reply whose connection the script has destroyed. */
export class ConnectionCut extends Error {}

const cutAfterMs = 100;

type Send = (type: string, data: Record<string, unknown>) => void;

/** Ids and model of the message being answered; the reply itself knows neither. */
export interface MessageFrame {
  id: string;
  model: string;
}

/** Plays a reply as the Messages API's server-sent events. */
export async function streamReply(
  response: ServerResponse,
  frame: MessageFrame,
  answer: MessageReply,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${frame.id}` });
  const send: Send = (type, data) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send('message_start', { message: messageShell(frame, answer) });
  for (const [index, block] of answer.blocks.entries())
    await streamBlock(response, send, frame, index, block);
  send('message_delta', {
    delta: { stop_reason: answer.stopReason, stop_sequence: null },
    usage: answer.usage,
  });
  send('message_stop', {});
  response.end();
}

async function streamBlock(
  response: ServerResponse,
  send: Send,
  frame: MessageFrame,
  index: number,
  block: ReplyBlock,
): Promise<void> {
  send('content_block_start', { index, content_block: emptyBlock(frame, index, block) });
  for (const part of block.parts) {
    if (typeof part === 'string') await streamText(send, index, block, part);
    else await happen(response, send, part);
  }
  if (block.type === 'thinking') {
    send('content_block_delta', {
      index,
      delta: { type: 'signature_delta', signature: block.signature },
    });
  }
  send('content_block_stop', { index });
}

async function streamText(
  send: Send,
  index: number,
  block: ReplyBlock,
  part: string,
): Promise<void> {
  for (const piece of pieces(part, block.chunk)) {
    send('content_block_delta', { index, delta: delta(block, piece) });
    if (block.delayMs !== undefined) await sleep(block.delayMs);
  }
}

async function happen(
  response: ServerResponse,
  send: Send,
  part: Exclude<Part, string>,
): Promise<void> {
  switch (part.type) {
    case 'gate':
      return part.pass();
    case 'pause':
      return sleep(part.ms);
    case 'stream_error':
      send('error', { error: part.error });
      response.end();
      throw new ConnectionCut();
    case 'cut':
      await new Promise<void>((resolve) => response.write(': cut\n\n', () => resolve()));
      // A client that sees the end together with the beginning may never look at what is between them.
      await sleep(cutAfterMs);
      // Not `destroy`: a reset can overtake what was written before it.
      response.socket?.end();
      throw new ConnectionCut();
  }
}

const pieces = (value: string, size = value.length): string[] =>
  Array.from({ length: Math.ceil(value.length / Math.max(1, size)) }, (_, at) =>
    value.slice(at * size, (at + 1) * size),
  );

function delta(block: ReplyBlock, piece: string): Record<string, unknown> {
  switch (block.type) {
    case 'text':
      return { type: 'text_delta', text: piece };
    case 'thinking':
      return { type: 'thinking_delta', thinking: piece };
    case 'tool_use':
      return { type: 'input_json_delta', partial_json: piece };
  }
}

function emptyBlock(
  frame: MessageFrame,
  index: number,
  block: ReplyBlock,
): Record<string, unknown> {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return {
        type: 'tool_use',
        id: toolUseId(frame, index, block.id),
        name: block.name,
        input: {},
      };
  }
}

export const toolUseId = (frame: MessageFrame, index: number, id: string | undefined): string =>
  id ?? `toolu_${frame.id.replace('msg_', '')}_${index}`;

/** The message without its content, as `message_start` carries it. */
export const messageShell = (
  frame: MessageFrame,
  answer: MessageReply,
): Record<string, unknown> => ({
  id: frame.id,
  type: 'message',
  role: 'assistant',
  model: frame.model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { ...answer.usage, output_tokens: 1 },
});

/** Waits at gates and pauses and cuts where the script cuts, without saying anything meanwhile. */
export async function playSilently(response: ServerResponse, answer: MessageReply): Promise<void> {
  const events = answer.blocks.flatMap((block) =>
    block.parts.filter((part) => typeof part !== 'string'),
  );
  for (const part of events) await happen(response, () => undefined, part);
}
