/** Tests sessions that resume a turn's open questions while an MCP server does not respond. */
import type { McpServers } from '@liminal/protocol';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { createModelDrivers } from '../../src/own/loop/model-driver.ts';
import { cutOff } from '../../src/own/loop/testing/cut-off.ts';
import { loudEcho } from '../../src/own/loop/testing/echo.ts';
import { calls, ScriptedClient } from '../../src/own/loop/testing/scripted-client.ts';
import { Watch } from '../../src/testing/watch.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function open(mcpServers: McpServers) {
  const client = new ScriptedClient([calls(['echo', { text: 'loud' }])]);
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const [provider] = createModelDrivers({ servers, tools: [loudEcho], mcpServers }).map(
    (driver) => new DriverProvider(driver),
  );
  if (provider === undefined) throw new Error('No provider was created.');
  ends.push(() => provider.close());
  return provider;
}

test('a session that is closed while it is resuming ends at once, and begins no turn', async () => {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-going-on-'));
  ends.push(() => rm(projectDir, { recursive: true }));
  const before = open({});
  const asked = new Watch(before, 's');
  await before.createSession({ sessionId: 's', projectDir });
  await before.sendMessage('s', 'Be loud');
  await asked.until(() => asked.events.some(({ payload }) => 'approvalId' in payload));
  const stored = [cutOff(asked.events)];

  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  ends.push(async () => {
    silent.closeAllConnections();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  const provider = open({ mute: { type: 'http', url: `http://127.0.0.1:${port}`, headers: {} } });
  const watch = new Watch(provider, 's');
  const reached = once(silent, 'request');
  const known = { resuming: true, stored: { runs: async () => stored } };
  const opening = provider.loadSession('s', { projectDir, ...known });
  const refusal = opening.catch((error: unknown) => error);
  await reached;

  const begun = performance.now();
  await provider.killSession('s');
  // The MCP server's own time limit is 30 s.
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect(await refusal).toMatchObject({ message: expect.stringMatching(/was ended before/) });
  expect(watch.events).toEqual([]);
});
