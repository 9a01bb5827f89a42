import type { ServerResponse } from 'node:http';
import { playIncident, paced } from '../scripted-server/stream-incident.ts';
import { itemFace } from './item-face.ts';
import type { AnswerReply, OutputItem, TokenUsage } from './reply.ts';

type Send = (type: string, data: Record<string, unknown>) => void;

/** The id and the model of the response that is being streamed. The reply itself does not contain them. */
export interface ResponseFrame {
  id: string;
  model: string;
}

/** Streams a reply as the Responses API's server-sent events. */
export async function streamAnswer(
  response: ServerResponse,
  frame: ResponseFrame,
  reply: AnswerReply,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'x-request-id': frame.id,
    ...reply.headers,
  });
  let sequence = 0;
  const send: Send = (type, data) => {
    const event = { type, sequence_number: sequence, ...data };
    sequence += 1;
    response.write(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const shell = { id: frame.id, object: 'response', model: frame.model, created_at: 1_767_225_600 };
  send('response.created', { response: { ...shell, status: 'in_progress', output: [] } });
  const output: unknown[] = [];
  for (const [index, item] of reply.items.entries())
    output.push(await streamItem(response, send, `${frame.id}_${index}`, index, item));
  const { type, body } = lastEvent(reply);
  send(type, type === 'error' ? body : { response: { ...shell, output, ...body } });
  response.end();
}

async function streamItem(
  response: ServerResponse,
  send: Send,
  id: string,
  outputIndex: number,
  item: OutputItem,
): Promise<unknown> {
  const face = itemFace(id, item);
  const place = { item_id: id, output_index: outputIndex };
  send('response.output_item.added', { output_index: outputIndex, item: face.begun });
  for (const section of face.sections) {
    for (const [type, data] of section.begin) send(type, { ...place, ...data });
    for (const part of section.parts) {
      if (typeof part !== 'string') await playIncident(response, part);
      else
        await paced(part, item, (delta) => send(section.delta, { ...place, ...section.at, delta }));
    }
    for (const [type, data] of section.end) send(type, { ...place, ...data });
  }
  send('response.output_item.done', { output_index: outputIndex, item: face.done });
  return face.done;
}

function lastEvent({ ending, usage, searches }: AnswerReply): {
  type: string;
  body: Record<string, unknown>;
} {
  switch (ending.status) {
    case 'completed':
      return {
        type: 'response.completed',
        body: {
          status: 'completed',
          error: null,
          usage: usageBody(usage),
          ...(searches !== undefined && { tool_usage: { web_search: { num_requests: searches } } }),
        },
      };
    case 'incomplete':
      return {
        type: 'response.incomplete',
        body: {
          status: 'incomplete',
          error: null,
          incomplete_details: { reason: ending.reason },
          usage: usageBody(usage),
        },
      };
    case 'failed':
      return {
        type: 'response.failed',
        body: {
          status: 'failed',
          error: { code: ending.code, message: ending.message },
          usage: null,
        },
      };
    case 'error':
      return {
        type: 'error',
        body: { code: ending.code, message: ending.message, param: null },
      };
  }
}

const usageBody = ({ input, cachedInput, output, reasoning }: TokenUsage) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cachedInput },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});
