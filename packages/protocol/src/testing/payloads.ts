/** Functions with short names for payloads that tests often need. */
import type { EventPayload } from '../events.ts';

export const text = (
  itemId: string,
  itemType: 'message' | 'reasoning' = 'message',
): EventPayload => ({
  type: 'item_start',
  itemId,
  itemType,
});

export const delta = (itemId: string, deltaContent: string): EventPayload => ({
  type: 'item_delta',
  itemId,
  deltaContent,
});

export const messageDone = (
  itemId: string,
  content: string,
  origin: 'user' | 'agent' = 'agent',
): EventPayload => ({
  type: 'item_done',
  itemId,
  finalItem: { id: itemId, type: 'message', content, origin },
});

export const reasoningDone = (itemId: string, content: string): EventPayload => ({
  type: 'item_done',
  itemId,
  finalItem: { id: itemId, type: 'reasoning', content, origin: 'agent' },
});

export const call = (itemId: string, name: string, callId?: string): EventPayload => ({
  type: 'item_start',
  itemId,
  itemType: 'function_call',
  name,
  ...(callId && { callId }),
});

export const callDone = (
  itemId: string,
  name: string,
  callId: string,
  input: object,
): EventPayload => ({
  type: 'item_done',
  itemId,
  finalItem: {
    id: itemId,
    type: 'function_call',
    name,
    callId,
    arguments: JSON.stringify(input),
    origin: 'agent',
  },
});

export const outputDone = (
  itemId: string,
  callId: string,
  output: string,
  success = true,
): EventPayload => ({
  type: 'item_done',
  itemId,
  finalItem: {
    id: itemId,
    type: 'function_call_output',
    callId,
    output,
    success,
    origin: 'system',
  },
});

export const completed: EventPayload = {
  type: 'response_done',
  status: 'completed',
  usage: { inputTokens: 1, outputTokens: 2 },
};
