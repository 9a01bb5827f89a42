import {
  afterTools,
  callInWords,
  type LlamaServer,
  startLlamaServer,
  tinyModel,
} from '@liminal/testkit';

/** In tokens. */
export const contextLength = 32_768;

/** The model's answers by the last word of a prompt. */
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
 * llama.cpp's server with a model whose own context is longer than the configured one. An endless answer is cut when it
 * has filled a sixteenth of the context.
 */
export const llamaServer = async (): Promise<LlamaServer> =>
  startLlamaServer({
    model: tinyModel(2 * contextLength, sayings),
    contextLength,
    // Several threads would wait for each other without sleeping, which takes ten times as long on a busy machine.
    args: ['--predict', String(contextLength / 16), '--threads', '1'],
  });
