import { ggufFile, type GgufTensor } from './gguf.ts';

/** The token that ends an answer. */
const end = '</s>';
/** The token that begins the model's answer to tool outputs. */
export const afterTools = '<|seen|>';

/**
 * Returns a tool call as words of the model's vocabulary. The first word and the last word are separate words, because
 * the server looks for them. A model can make only one call, because only one word can follow the first word of a call.
 */
export const callInWords = (name: string, input: Record<string, unknown>): string[] => [
  '<tool_call>',
  `\n{"name": "${name}", "arguments": `,
  `${JSON.stringify(input)}}\n`,
  '</tool_call>',
];

/**
 * The chat template: the format in which the server passes a conversation and its tools to the model. The model then
 * answers the last message.
 */
const template = `{%- if tools %}<|tools|>
For each call of a tool, say a JSON object within <tool_call></tool_call>:
<tool_call>
{"name": <name>, "arguments": <arguments>}
</tool_call>
{%- for tool in tools %}{{ tool | tojson }}{%- endfor %}{%- endif %}
{%- for message in messages %}<|{{ message.role }}|>
{%- if message.role == 'tool' %}<tool_response>{{ message.content }}</tool_response>${afterTools}
{%- else %}{{ message.content if message.content else '' }}
{%- for call in (message.tool_calls if message.tool_calls else []) %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{%- endfor %}{%- if message.role == 'assistant' %}${end}{%- endif %}
{%- endif %}{%- endfor %}`;

const width = 64;
const feedForward = 32;
/** The logit of the next word. It is far above all other logits, so that sampling is deterministic. */
const certain = 10;

/** The numbers with which the format encodes the kinds of tokens. */
const kinds = { unknown: 2, control: 3, word: 4, byte: 6 };

/**
 * Returns the file of a model with the architecture of Llama. The model knows only which word follows each word: if a
 * prompt ends with the first word of a line, the model writes the rest of that line. A word that occurs twice in a line
 * is always followed by its first successor. The model accepts all other bytes, and ignores them. The file has 240 KB.
 */
export function tinyModel(contextLength: number, lines: readonly (readonly string[])[]): Buffer {
  const next = new Map<string, string>();
  for (const line of lines) {
    for (const [at, word] of line.entries()) {
      if (!next.has(word)) next.set(word, line[at + 1] ?? end);
    }
  }
  const words = [...next.keys()];
  if (words.length >= width) throw new Error(`The model has space for only ${width - 1} words.`);
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const tokens = ['<unk>', '<s>', end, ...bytes, ...words];
  const kindOf = (token: string, index: number): number => {
    if (index === 0) return kinds.unknown;
    if (index <= 2) return kinds.control;
    return index < 3 + bytes.length ? kinds.byte : kinds.word;
  };
  return ggufFile(
    {
      'general.architecture': { string: 'llama' },
      'general.name': { string: 'tiny' },
      'llama.context_length': { uint32: contextLength },
      'llama.embedding_length': { uint32: width },
      'llama.block_count': { uint32: 1 },
      'llama.feed_forward_length': { uint32: feedForward },
      'llama.attention.head_count': { uint32: 2 },
      'llama.attention.layer_norm_rms_epsilon': { float32: 1e-5 },
      'llama.rope.dimension_count': { uint32: width / 2 },
      'tokenizer.ggml.model': { string: 'llama' },
      'tokenizer.ggml.tokens': { strings: tokens },
      'tokenizer.ggml.scores': { float32s: tokens.map(() => 0) },
      'tokenizer.ggml.token_type': { int32s: tokens.map(kindOf) },
      'tokenizer.ggml.bos_token_id': { uint32: 1 },
      'tokenizer.ggml.eos_token_id': { uint32: 2 },
      'tokenizer.ggml.unknown_token_id': { uint32: 0 },
      'tokenizer.ggml.add_space_prefix': { bool: false },
      'tokenizer.chat_template': { string: template },
    },
    [...vocabulary(tokens, words, next), ...layer()],
  );
}

/**
 * Returns the tensors of the vocabulary. Each word has its own direction, and all other tokens share one direction. The
 * output matrix maps each word's direction to the word that follows.
 */
function vocabulary(
  tokens: readonly string[],
  words: readonly string[],
  next: ReadonlyMap<string, string>,
): GgufTensor[] {
  const input = new Float32Array(tokens.length * width);
  const output = new Float32Array(tokens.length * width);
  const direction = (token: string): number => words.indexOf(token) + 1;
  for (const [row, token] of tokens.entries()) input[row * width + direction(token)] = 1;
  output[tokens.indexOf(end) * width] = certain;
  for (const [word, following] of next) {
    output[tokens.indexOf(following) * width + direction(word)] = certain;
  }
  const shape = [width, tokens.length];
  return [
    { name: 'token_embd.weight', shape, values: input },
    { name: 'output_norm.weight', shape: [width], values: ones() },
    { name: 'output.weight', shape, values: output },
  ];
}

/** Returns a layer that does not change its input. */
function layer(): GgufTensor[] {
  const idle = (name: string, ...shape: [number, number]): GgufTensor => ({
    name: `blk.0.${name}.weight`,
    shape,
    values: new Float32Array(shape[0] * shape[1]),
  });
  return [
    { name: 'blk.0.attn_norm.weight', shape: [width], values: ones() },
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => idle(name, width, width)),
    { name: 'blk.0.ffn_norm.weight', shape: [width], values: ones() },
    idle('ffn_gate', width, feedForward),
    idle('ffn_up', width, feedForward),
    idle('ffn_down', feedForward, width),
  ];
}

const ones = (): Float32Array => new Float32Array(width).fill(1);
