/**
 * Tests models whose servers report, by each API, that the models have no tools: the scripts that they write are run.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  answer,
  apiError,
  chat,
  httpError,
  reply,
  startChatCompletionsApi,
  startMessagesApi,
  startResponsesApi,
} from '@liminal/testkit';
import { afterEach, expect, test } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AnthropicClient } from '../../src/own/makers/anthropic/index.ts';
import type { ModelClient } from '../../src/own/loop/model-client.ts';
import { createModelDrivers } from '../../src/own/loop/model-driver.ts';
import { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { foldTurn } from '../../src/testing/folding.ts';
import { expectWholeTurn, Watch } from '../../src/testing/watch.ts';
import { builtInTools } from '../../src/own/tools/index.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const script = "```liminal-script\nreturn tools.read({ path: 'a.txt' });\n```";
const refusal = 'registry/tiny:1b does not support tools';

/** The bodies of all requests to the server. */
interface Server {
  client: ModelClient;
  bodies: () => Record<string, unknown>[];
  /** The number of requests with tools that the server has refused. */
  refused: number;
}

const servers = {
  'Chat Completions, by its list': async (): Promise<Server> => {
    const models = [{ id: 'tiny', object: 'model', supported_parameters: ['stop'] }];
    const api = await startChatCompletionsApi({
      script: [chat.answer(script), chat.answer('Done.')],
      models,
    });
    ends.push(() => api.close());
    const client = new OpenAiClient({ baseUrl: api.url, api: 'chat' });
    return { client, bodies: () => api.requests.map(({ body }) => body), refused: 0 };
  },
  'Chat Completions, when it is asked': async (): Promise<Server> => {
    const first = chat.otherError(400, { error: refusal });
    const api = await startChatCompletionsApi({
      script: [first, chat.answer(script), chat.answer('Done.')],
    });
    ends.push(() => api.close());
    const client = new OpenAiClient({ baseUrl: api.url, api: 'chat' });
    return { client, bodies: () => api.requests.map(({ body }) => body), refused: 1 };
  },
  Responses: async (): Promise<Server> => {
    const replies = [httpError(400, refusal), answer(script), answer('Done.')];
    const api = await startResponsesApi({ script: replies });
    ends.push(() => api.close());
    const client = new OpenAiClient({ baseUrl: api.url });
    return { client, bodies: () => api.requests.map(({ body }) => body), refused: 1 };
  },
  Messages: async (): Promise<Server> => {
    const first = apiError(400, refusal);
    const replies = [first, reply(script), reply('Done.')];
    const api = await startMessagesApi({ script: replies, answersAll: true });
    ends.push(() => api.close());
    const client = new AnthropicClient({ baseUrl: api.url });
    return { client, bodies: () => api.requests.map(({ body }) => body), refused: 1 };
  },
};

test.each(Object.entries(servers))(
  'by %s: if the server reports that its model has no tools, the request is repeated without tools, and the script in the answer is run',
  async (_, start) => {
    const projectDir = await mkdtemp(join(tmpdir(), 'liminal-without-tools-'));
    ends.push(() => rm(projectDir, { recursive: true }));
    await writeFile(join(projectDir, 'a.txt'), 'All is well.');
    const { client, bodies, refused } = await start();
    const models = [{ name: 'local', title: 'Local', client, model: 'tiny' }];
    const [provider] = createModelDrivers({ servers: models, tools: builtInTools() }).map(
      (driver) => new DriverProvider(driver),
    );
    if (provider === undefined) throw new Error('No provider was created.');
    ends.push(() => provider.close());
    const watch = new Watch(provider, 's');
    await provider.createSession({ sessionId: 's', projectDir });
    // The second update has the models from the server's list.
    await watch.until(() => watch.updates.filter(({ configOptions }) => configOptions).length >= 2);
    const { turnId } = await provider.sendMessage('s', 'Look');
    expectWholeTurn(await watch.ended(turnId));

    expect(foldTurn(watch.events, turnId)).toMatchObject({ status: 'complete' });
    expect(bodies()).toHaveLength(refused + 2);
    for (const body of bodies().slice(refused)) expect(body['tools'] ?? []).toEqual([]);
    const last = JSON.stringify(bodies().at(-1));
    expect(last).toContain('This is from Liminal, not from the user');
    expect(last).toContain('All is well.');
    expect(last).not.toMatch(/tool_use|tool_call|function_call|"role":"tool"/);
  },
);
