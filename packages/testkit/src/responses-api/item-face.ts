import type { CallItem, MessageItem, OutputItem, Part, ReasoningItem } from './reply.ts';

type NamedData = [type: string, data: Record<string, unknown>];

/** A stretch of an item that is streamed as deltas of one kind, and the events that frame it. */
interface Section {
  parts: Part[];
  begin: NamedData[];
  delta: string;
  /** Where in the item the deltas belong. */
  at: Record<string, unknown>;
  end: NamedData[];
}

/** How an output item looks when it is announced, while it is streamed, and when it is done. */
export interface ItemFace {
  begun: Record<string, unknown>;
  sections: Section[];
  done: Record<string, unknown>;
}

export function itemFace(id: string, item: OutputItem): ItemFace {
  switch (item.type) {
    case 'message':
      return messageFace(id, item);
    case 'reasoning':
      return reasoningFace(id, item);
    case 'function_call':
    case 'custom_tool_call':
      return callFace(id, item);
  }
}

const spoken = (parts: readonly Part[]): string =>
  parts.filter((part) => typeof part === 'string').join('');

function messageFace(id: string, { parts }: MessageItem): ItemFace {
  const text = spoken(parts);
  const head = { id, type: 'message', role: 'assistant' };
  const at = { content_index: 0 };
  const part = (value: string) => ({ type: 'output_text', text: value, annotations: [] });
  return {
    begun: { ...head, status: 'in_progress', content: [] },
    sections: [
      {
        parts,
        begin: [['response.content_part.added', { ...at, part: part('') }]],
        delta: 'response.output_text.delta',
        at,
        end: [
          ['response.output_text.done', { ...at, text }],
          ['response.content_part.done', { ...at, part: part(text) }],
        ],
      },
    ],
    done: { ...head, status: 'completed', content: [part(text)] },
  };
}

function reasoningFace(id: string, { summaries }: ReasoningItem): ItemFace {
  const part = (text: string) => ({ type: 'summary_text', text });
  return {
    begun: { id, type: 'reasoning', summary: [] },
    sections: summaries.map((parts, index) => {
      const at = { summary_index: index };
      const text = spoken(parts);
      return {
        parts,
        begin: [['response.reasoning_summary_part.added', { ...at, part: part('') }]],
        delta: 'response.reasoning_summary_text.delta',
        at,
        end: [
          ['response.reasoning_summary_text.done', { ...at, text }],
          ['response.reasoning_summary_part.done', { ...at, part: part(text) }],
        ],
      };
    }),
    done: {
      id,
      type: 'reasoning',
      summary: summaries.map((parts) => part(spoken(parts))),
      encrypted_content: 'c2NyaXB0ZWQ=',
    },
  };
}

const callWords = {
  function_call: { field: 'arguments', event: 'response.function_call_arguments' },
  custom_tool_call: { field: 'input', event: 'response.custom_tool_call_input' },
};

function callFace(id: string, { type, name, namespace, callId, parts }: CallItem): ItemFace {
  const { field, event } = callWords[type];
  const text = spoken(parts);
  const group = namespace === undefined ? {} : { namespace };
  const head = { id, type, name, ...group, call_id: callId ?? id.replace('resp', 'call') };
  return {
    begun: { ...head, status: 'in_progress', [field]: '' },
    sections: [
      {
        parts,
        begin: [],
        delta: `${event}.delta`,
        at: {},
        end: [[`${event}.done`, { [field]: text }]],
      },
    ],
    done: { ...head, status: 'completed', [field]: text },
  };
}
