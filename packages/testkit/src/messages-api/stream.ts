import type { ServerResponse } from 'node:http';
import { ConnectionCut, playIncident, paced } from '../scripted-server/stream-incident.ts';
import type { MessageReply, Part, ReplyBlock, StreamError } from './reply.ts';

type Send = (type: string, data: Record<string, unknown>) => void;

/** The ids and the model of the message that is being answered. The reply itself does not contain them. */
export interface MessageFrame {
  id: string;
  model: string;
}

/** Streams a reply as the Messages API's server-sent events. */
export async function streamReply(
  response: ServerResponse,
  frame: MessageFrame,
  answer: MessageReply,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'request-id': `req_${frame.id}`,
    ...answer.headers,
  });
  const send: Send = (type, data) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send('message_start', { message: messageShell(frame, answer) });
  const blocks = answer.blocks.map((block, index) => ({ index, block }));
  for (const together of answer.isInterleaved ? [blocks] : blocks.map((block) => [block]))
    await streamBlocks(response, send, frame, together);
  send('message_delta', {
    delta: {
      stop_reason: answer.stopReason,
      stop_sequence: null,
      ...(answer.stopDetails !== null && { stop_details: answer.stopDetails }),
    },
    usage: answer.usage,
  });
  send('message_stop', {});
  response.end();
}

interface Placed {
  index: number;
  block: ReplyBlock;
}

/** Streams several blocks whose parts alternate. */
async function streamBlocks(
  response: ServerResponse,
  send: Send,
  frame: MessageFrame,
  blocks: Placed[],
): Promise<void> {
  for (const { index, block } of blocks)
    send('content_block_start', { index, content_block: emptyBlock(frame, index, block) });
  const turns = Math.max(...blocks.map(({ block }) => block.parts.length));
  for (let turn = 0; turn < turns; turn += 1) {
    for (const { index, block } of blocks) {
      const part = block.parts[turn];
      if (typeof part === 'string') await streamText(send, index, block, part);
      else if (part !== undefined) await happenIn(response, send, part);
    }
  }
  for (const { index, block } of blocks) {
    for (const last of lastDeltas(block)) send('content_block_delta', { index, delta: last });
    send('content_block_stop', { index });
  }
}

function lastDeltas(block: ReplyBlock): Record<string, unknown>[] {
  if (block.type === 'given') return block.deltas;
  return block.type === 'thinking' ? [{ type: 'signature_delta', signature: block.signature }] : [];
}

const streamText = (send: Send, index: number, block: ReplyBlock, part: string): Promise<void> =>
  paced(part, block, (piece) => send('content_block_delta', { index, delta: delta(block, piece) }));

function happenIn(
  response: ServerResponse,
  send: Send,
  part: Exclude<Part, string>,
): Promise<void> {
  return part.type === 'stream_error'
    ? breakOff(response, send, part)
    : playIncident(response, part);
}

async function breakOff(response: ServerResponse, send: Send, part: StreamError): Promise<never> {
  send('error', { error: part.error });
  response.end();
  throw new ConnectionCut();
}

function delta(block: ReplyBlock, piece: string): Record<string, unknown> {
  switch (block.type) {
    case 'text':
      return { type: 'text_delta', text: piece };
    case 'thinking':
      return { type: 'thinking_delta', thinking: piece };
    case 'tool_use':
      return { type: 'input_json_delta', partial_json: piece };
    case 'given':
      throw new Error('A given block contains its own deltas, so it has no text to stream.');
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
    case 'given':
      return block.block;
  }
}

export const toolUseId = (frame: MessageFrame, index: number, id: string | undefined): string =>
  id ?? `toolu_${frame.id.replace('msg_', '')}_${index}`;

/** Returns the message without its content, as in `message_start`. */
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

/** Plays the gates, pauses and cuts of the script, and sends nothing. */
export async function playSilently(response: ServerResponse, answer: MessageReply): Promise<void> {
  const events = answer.blocks.flatMap((block) =>
    block.parts.filter((part) => typeof part !== 'string'),
  );
  for (const part of events) await happenIn(response, () => undefined, part);
}
