import type {
  CallItem,
  HostedItem,
  MessageItem,
  OutputItem,
  Part,
  ReasoningItem,
} from './reply.ts';

type NamedData = [type: string, data: Record<string, unknown>];

/** A part of an item that is streamed as deltas of one kind, with the events before and after the deltas. */
interface Section {
  parts: Part[];
  begin: NamedData[];
  delta: string;
  /** The fields of each delta event that identify the part to which the delta belongs. */
  at: Record<string, unknown>;
  end: NamedData[];
}

/** The forms of an output item: when it is announced, while it is streamed, and when it is done. */
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
    case 'web_search_call':
      return hostedFace(id, item);
  }
}

const spoken = (parts: readonly Part[]): string =>
  parts.filter((part) => typeof part === 'string').join('');

const messageWords = {
  text: {
    event: 'response.output_text',
    field: 'text',
    part: (text: string) => ({ type: 'output_text', text, annotations: [] }),
  },
  refusal: {
    event: 'response.refusal',
    field: 'refusal',
    part: (text: string) => ({ type: 'refusal', refusal: text }),
  },
};

function messageFace(id: string, { parts, isRefusal = false, annotations }: MessageItem): ItemFace {
  const { event, field, part } = messageWords[isRefusal ? 'refusal' : 'text'];
  const text = spoken(parts);
  const head = { id, type: 'message', role: 'assistant' };
  const at = { content_index: 0 };
  return {
    begun: { ...head, status: 'in_progress', content: [] },
    sections: [
      {
        parts,
        begin: [['response.content_part.added', { ...at, part: part('') }]],
        delta: `${event}.delta`,
        at,
        end: [
          [`${event}.done`, { ...at, [field]: text }],
          ['response.content_part.done', { ...at, part: part(text) }],
        ],
      },
    ],
    done: {
      ...head,
      status: 'completed',
      content: [{ ...part(text), ...(annotations && { annotations }) }],
    },
  };
}

function reasoningFace(id: string, { summaries, content, encrypted }: ReasoningItem): ItemFace {
  const part = (text: string) => ({ type: 'summary_text', text });
  const summarySections = summaries.map((parts, index) => {
    const at = { summary_index: index };
    const text = spoken(parts);
    return {
      parts,
      begin: [['response.reasoning_summary_part.added', { ...at, part: part('') }] as NamedData],
      delta: 'response.reasoning_summary_text.delta',
      at,
      end: [
        ['response.reasoning_summary_text.done', { ...at, text }] as NamedData,
        ['response.reasoning_summary_part.done', { ...at, part: part(text) }] as NamedData,
      ],
    };
  });
  const whole = content.length === 0 ? [] : [contentSection(content)];
  return {
    begun: { id, type: 'reasoning', summary: [] },
    sections: [...whole, ...summarySections],
    done: {
      id,
      type: 'reasoning',
      summary: summaries.map((parts) => part(spoken(parts))),
      ...(content.length === 0
        ? {}
        : { content: [{ type: 'reasoning_text', text: spoken(content) }] }),
      encrypted_content: encrypted,
    },
  };
}

function contentSection(parts: Part[]): Section {
  const at = { content_index: 0 };
  return {
    parts,
    begin: [],
    delta: 'response.reasoning_text.delta',
    at,
    end: [['response.reasoning_text.done', { ...at, text: spoken(parts) }]],
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

/** Returns the forms of a tool that the API runs itself. Such a tool streams no deltas. */
function hostedFace(id: string, { type, result, parts }: HostedItem): ItemFace {
  return {
    begun: { id, type, status: 'in_progress' },
    sections: [{ parts, begin: [], delta: '', at: {}, end: [] }],
    done: { id, type, status: 'completed', ...result },
  };
}
