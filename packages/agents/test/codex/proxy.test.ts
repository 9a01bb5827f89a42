/** The real Codex reaches its model through the proxies in the server's environment. */
import { answer, message, startProxy } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { messagesOf } from '../acp/running-agent.ts';
import { runCodex } from './running-codex.ts';

async function proxied() {
  const ports: Record<string, number> = {};
  const proxy = await startProxy(ports);
  onTestFinished(() => proxy.close());
  return { ports, proxy };
}

test('a remote model is reached through the proxy', async () => {
  const { ports, proxy } = await proxied();
  const modelUrl = 'http://models.example/v1';
  const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url };
  const { api, create } = await runCodex(() => [answer(message('By way of it.'))], {
    modelUrl,
    env,
  });
  ports['models.example'] = Number(new URL(api.url).port);

  const response = await (await create()).ask('Hello.');

  expect(messagesOf(response)).toEqual(['user: Hello.', 'agent: By way of it.']);
  expect(proxy.asked).toContain(`POST ${modelUrl}/responses`);
});

test('a model with an https address is reached through a tunnel of the proxy', async () => {
  const { proxy } = await proxied();
  const env = { HTTPS_PROXY: proxy.url };
  const { create } = await runCodex(() => [], { modelUrl: 'https://models.example/v1', env });

  await (await create()).send('Hello.');

  await expect.poll(() => proxy.asked, { timeout: 60_000 }).toContain('CONNECT models.example:443');
});

test('a model that NO_PROXY names is reached without the proxy', async () => {
  const { proxy } = await proxied();
  const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NO_PROXY: '127.0.0.1' };
  const { create } = await runCodex(() => [answer(message('Directly.'))], { env });

  const response = await (await create()).ask('Hello.');

  expect(messagesOf(response)).toEqual(['user: Hello.', 'agent: Directly.']);
  expect(proxy.asked).toEqual([]);
});
