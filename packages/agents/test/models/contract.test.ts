/** Runs the tests for every provider on models of both makers, and on a server that has only Chat Completions. */
import {
  answer,
  apiError,
  chat,
  functionCall,
  gate,
  httpError,
  makeWorkspace,
  message,
  type ModelReply,
  reply,
  type Reply,
  startChatCompletionsApi,
  startMessagesApi,
  startResponsesApi,
  text,
  toolUse,
} from '@liminal/testkit';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AnthropicClient } from '../../src/own/makers/anthropic/index.ts';
import type { ModelClient } from '../../src/own/loop/index.ts';
import { createModelDrivers } from '../../src/own/loop/index.ts';
import { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { type ProviderUnderTest, providerSuite } from '../../src/testing/index.ts';
import { builtInTools } from '../../src/own/tools/index.ts';

const prompts = {
  text: 'Say something.',
  tool: 'Use a tool.',
  approval: 'Make a file.',
  slow: 'Go on for ever.',
  error: 'Fail.',
};
const list = ['list', {}] as const;
const touch = ['bash', { command: 'touch new.txt' }] as const;

/** Answers the last message: with the first reply, and with the second reply after the tool has run. */
const byPrompt =
  <Said>(replies: Record<string, Said[]>) =>
  ({ prompt, toolResults }: { prompt: string; toolResults: Record<string, string> }): Said => {
    const said = Object.keys(replies).toSorted(
      (a, b) => prompt.lastIndexOf(b) - prompt.lastIndexOf(a),
    );
    const [first, second] = replies[said[0] ?? ''] ?? [];
    const reply = Object.keys(toolResults).length > 0 ? second : first;
    if (reply === undefined) throw new Error(`There is no reply to ${prompt}`);
    return reply;
  };

interface Served {
  url: string;
  close(): Promise<void>;
}

const setup =
  (name: string, serve: () => Promise<Served>, clientOf: (baseUrl: string) => ModelClient) =>
  async (): Promise<ProviderUnderTest> => {
    const api = await serve();
    const workspace = await makeWorkspace();
    const servers = [{ name, title: name, client: clientOf(api.url), model: 'scripted' }];
    const [provider] = createModelDrivers({ servers, tools: builtInTools() }).map(
      (driver) => new DriverProvider(driver),
    );
    if (provider === undefined) throw new Error('No provider was created.');
    return {
      provider,
      projectDir: workspace.projectDir,
      prompts,
      teardown: async () => {
        await api.close();
        await workspace.remove();
      },
    };
  };

providerSuite(
  'openai',
  setup(
    'openai',
    () =>
      startResponsesApi({
        script: byPrompt<ModelReply>({
          [prompts.text]: [answer('Something.')],
          [prompts.tool]: [answer(functionCall(...list)), answer('Used.')],
          [prompts.approval]: [answer(functionCall(...touch)), answer('So be it.')],
          [prompts.slow]: [answer(message(['For ever ', gate()]))],
          [prompts.error]: [httpError(400)],
        }),
      }),
    (baseUrl) => new OpenAiClient({ baseUrl }),
  ),
);

providerSuite(
  'openai by Chat Completions',
  setup(
    'local',
    () =>
      startChatCompletionsApi({
        script: byPrompt<chat.ChatReply>({
          [prompts.text]: [chat.answer('Something.')],
          [prompts.tool]: [chat.answer(chat.call(...list)), chat.answer('Used.')],
          [prompts.approval]: [chat.answer(chat.call(...touch)), chat.answer('So be it.')],
          [prompts.slow]: [chat.answer(chat.text(['For ever ', gate()]))],
          [prompts.error]: [chat.httpError(400)],
        }),
      }),
    (baseUrl) => new OpenAiClient({ baseUrl }),
  ),
);

providerSuite(
  'anthropic',
  setup(
    'anthropic',
    () =>
      startMessagesApi({
        script: byPrompt<Reply>({
          [prompts.text]: [reply('Something.')],
          [prompts.tool]: [reply(toolUse(...list)), reply('Used.')],
          [prompts.approval]: [reply(toolUse(...touch)), reply('So be it.')],
          [prompts.slow]: [reply(text(['For ever ', gate()]))],
          [prompts.error]: [apiError(400, 'scripted error')],
        }),
      }),
    (baseUrl) => new AnthropicClient({ baseUrl }),
  ),
);
