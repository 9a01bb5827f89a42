import {
  afterTools,
  callInWords,
  type LlamaServer,
  startLlamaServer,
  tinyModel,
} from '@liminal/testkit';

/** In tokens. */
export const contextLength = 32_768;

/** The model's answers. The key is the last word of the prompt. */
const sayings = [
  ['something.', 'Good', ' day', ' to you', '.'],
  ['tool.', ...callInWords('list', {})],
  ['ever.', ' On', ' and', ' on', ' and'],
  [afterTools, 'So', ' be', ' it', '.'],
];

export const prompts = {
  text: 'Say something.',
  tool: 'Use a tool.',
  slow: 'Go on for ever.',
  long: 'x'.repeat(contextLength),
};

/**
 * llama.cpp's server. Its model could use a longer context than the configured one. If an answer does not end, it is
 * cut off when it has filled a sixteenth of the context.
 */
export const llamaServer = async (): Promise<LlamaServer> =>
  startLlamaServer({
    model: tinyModel(2 * contextLength, sayings),
    contextLength,
    // Several threads would wait for each other in a busy loop, which takes ten times as long on a busy machine.
    args: ['--predict', String(contextLength / 16), '--threads', '1'],
  });
