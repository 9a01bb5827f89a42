import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  playIncident,
  type StreamIncident,
  type Pace,
} from '../scripted-server/stream-incident.ts';
import type { AnswerReply, CallItem, Item, Naming } from './reply.ts';
import type { ChatRequest } from './request.ts';

/** The parts of the stream, in the order in which they are sent. */
type Step =
  | { delta: Record<string, unknown>; delayMs?: number | undefined }
  | { chunk: unknown }
  | { happening: StreamIncident };

/** Streams a reply as `chat.completion.chunk` events. */
export async function streamAnswer(
  response: ServerResponse,
  id: string,
  request: ChatRequest,
  reply: AnswerReply,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers });
  const { items, finishReason, usagePlace = 'asked', isMarked = true } = reply;
  const shell = {
    id,
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model: request.body.model,
  };
  const usage = usageBody(reply);
  const isAsked = request.body.stream_options?.include_usage === true && usagePlace === 'asked';
  const each = usagePlace === 'each' ? { usage } : isAsked ? { usage: null } : {};
  const send = (value: unknown): Promise<void> =>
    write(response, reply, typeof value === 'string' ? value : JSON.stringify(value));
  const sendDelta = (delta: object, reason: string | null = null): Promise<void> => {
    const choice = { index: 0, delta, logprobs: null, finish_reason: reason };
    return send({ ...shell, choices: [choice], ...each });
  };
  await sendDelta({ role: 'assistant', content: '' });
  for (const step of stepsOf(items, id)) {
    if ('happening' in step) await playIncident(response, step.happening);
    else if ('chunk' in step) await send(step.chunk);
    else {
      if (step.delayMs !== undefined) await sleep(step.delayMs);
      await sendDelta(step.delta);
      if (reply.hasEmpties === true) for (const empty of empties) await sendDelta(empty);
    }
  }
  if (reply.error !== undefined) await send({ error: reply.error });
  else {
    const usual = items.some(({ type }) => type === 'call' || type === 'interleaved');
    const reason = finishReason === undefined ? (usual ? 'tool_calls' : 'stop') : finishReason;
    if (reason !== null) await sendDelta({}, reason);
    if (isAsked) await send({ ...shell, choices: [], usage });
    if (isMarked) await send('[DONE]');
  }
  response.end();
}

const empties = [{}, { content: '' }, { content: null }, { tool_calls: [] }, { reasoning: '' }];

const usageBody = ({ usage: { input, cachedInput, output } }: AnswerReply) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cachedInput },
});

async function write(response: ServerResponse, reply: AnswerReply, data: string): Promise<void> {
  const { lineEnd = '\n', comment, pieceBytes } = reply;
  const said = comment === undefined ? '' : `: ${comment}${lineEnd}${lineEnd}`;
  const event = Buffer.from(`${said}data: ${data}${lineEnd}${lineEnd}`);
  for (const piece of splitBytes(event, pieceBytes)) {
    await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    if (pieceBytes !== undefined) await nextTurn();
  }
}

function stepsOf(items: readonly Item[], id: string): Step[] {
  let calls = 0;
  return items.flatMap((item): Step[] => {
    switch (item.type) {
      case 'text':
        return item.parts.flatMap((part): Step[] =>
          typeof part === 'string'
            ? pieces(part, item).map((piece) => ({
                delta: { [item.field]: piece },
                delayMs: item.delayMs,
              }))
            : [{ happening: part }],
        );
      case 'call':
        return callSteps(item, calls++, id);
      case 'interleaved':
        return inTurns(item.calls.map((one) => callSteps(one, calls++, id)));
      case 'chunk':
        return [{ chunk: item.chunk }];
    }
  });
}

function callSteps(item: CallItem, place: number, id: string): Step[] {
  const { name, isWhole = false, asObject = false, repeatsName = false } = item;
  const callId = item.callId ?? `call_${id}_${place}`;
  const input = item.parts.flatMap((part): (string | StreamIncident)[] =>
    typeof part === 'string' ? pieces(part, item) : [part],
  );
  const whole = input.filter((part) => typeof part === 'string').join('');
  const opening = isWhole ? whole : '';
  const rest = isWhole || asObject ? input.filter((part) => typeof part !== 'string') : input;
  let count = 0;
  const piece = (args: unknown, withName: boolean): Step => {
    const named = idOf(item.ids, callId, count++);
    const face = { ...(named !== undefined && { id: named }), type: 'function' };
    const said = { ...((withName || repeatsName) && { name }), arguments: args };
    const entry = { ...indexOf(item.index, place), ...face, function: said };
    return { delta: { tool_calls: [entry] }, delayMs: item.delayMs };
  };
  return [
    piece(asObject ? JSON.parse(whole) : opening, true),
    ...rest.map((part) => (typeof part === 'string' ? piece(part, false) : { happening: part })),
  ];
}

function idOf(ids: Naming['ids'] = 'first', callId: string, count: number): string | undefined {
  switch (ids) {
    case 'first':
      return count === 0 ? callId : undefined;
    case 'second':
      return count === 1 ? callId : undefined;
    case 'each':
      return callId;
    case 'fresh':
      return `${callId}_${count}`;
    case 'never':
      return undefined;
  }
}

const indexOf = (index: Naming['index'] = 'own', place: number): { index?: number } =>
  index === 'none' ? {} : { index: index === 'zero' ? 0 : place };

function inTurns(lists: Step[][]): Step[] {
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_empty, at) =>
    lists.flatMap((list) => list.slice(at, at + 1)),
  ).flat();
}

function pieces(value: string, { chunk = value.length }: Pace): string[] {
  const size = Math.max(1, chunk);
  const count = Math.ceil(value.length / size);
  return Array.from({ length: count }, (_empty, at) => value.slice(at * size, (at + 1) * size));
}

function splitBytes(bytes: Buffer, size = bytes.length): Buffer[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_empty, at) => bytes.subarray(at * size, (at + 1) * size));
}
