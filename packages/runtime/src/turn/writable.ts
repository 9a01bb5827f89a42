import type { StreamEvent } from '@liminal/protocol';

const unwritable = {
  code: 'NOT_WRITABLE',
  message: 'An event of the agent cannot be serialised and was left out.',
};

/**
 * Returns the event, or, if the event cannot be serialised, an event that reports the omission: the log would reject
 * the original each time.
 */
export function writable(event: StreamEvent): StreamEvent {
  try {
    JSON.stringify(event);
    return event;
  } catch {
    const payload = placeholder(event);
    return { ...event, type: payload.type, payload } as StreamEvent;
  }
}

function placeholder({ seq, payload: { type } }: StreamEvent): StreamEvent['payload'] {
  if (type === 'response_start') return { type, modelId: 'unknown', providerId: 'unknown' };
  if (type === 'response_done' || type === 'response_error') {
    return { type: 'response_error', error: unwritable };
  }
  const itemId = `left-out:${seq}`;
  const finalItem = { type: 'error', id: itemId, origin: 'system', ...unwritable } as const;
  return { type: 'item_done', itemId, finalItem };
}
