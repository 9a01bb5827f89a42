/** The real Claude Code reaches its model through the proxies of the server's environment. */
import { reply, startProxy } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { messagesOf } from '../acp/running-agent.ts';
import { runClaude } from './running-claude.ts';

async function proxied() {
  const ports: Record<string, number> = {};
  const proxy = await startProxy(ports);
  onTestFinished(() => proxy.close());
  return { ports, proxy };
}

test('a remote model is reached through the proxy', async () => {
  const { ports, proxy } = await proxied();
  const env = { HTTP_PROXY: proxy.url, ANTHROPIC_BASE_URL: 'http://models.example' };
  const { api, create } = await runClaude(() => [reply('By way of it.')], { env });
  ports['models.example'] = Number(new URL(api.url).port);

  const response = await (await create()).ask('Hello.');

  expect(messagesOf(response)).toEqual(['user: Hello.', 'agent: By way of it.']);
  expect(proxy.asked).toContain('POST http://models.example/v1/messages?beta=true');
});

test('a model with https is reached through a tunnel of the proxy', async () => {
  const { proxy } = await proxied();
  const env = { HTTPS_PROXY: proxy.url, ANTHROPIC_BASE_URL: 'https://models.example' };
  const { create } = await runClaude(() => [], { env });

  await (await create()).send('Hello.');

  await expect.poll(() => proxy.asked, { timeout: 60_000 }).toContain('CONNECT models.example:443');
});

test('a model that NO_PROXY names is reached without the proxy', async () => {
  const { proxy } = await proxied();
  const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
  const { create } = await runClaude(() => [reply('Directly.')], { env });

  const response = await (await create()).ask('Hello.');

  expect(messagesOf(response)).toEqual(['user: Hello.', 'agent: Directly.']);
  expect(proxy.asked).toEqual([]);
});
