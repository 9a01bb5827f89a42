import { createModelDrivers } from '@liminal/agents/models';
import { calls, loudEcho, repliesWith, ScriptedClient } from '@liminal/agents/testing';
import { expect, test } from 'vitest';
import { Reader } from '../reader.ts';
import { type Server, startServers } from './servers.ts';

const approvals = (reader: Reader) =>
  [...reader.items.values()].filter((item) => item.type === 'approval');

test.each([
  ['dies', async (server: Server) => server.kill()],
  ['is closed', async (server: Server) => server.runtime.close()],
])(
  'a permission request that is open when its server %s is asked again by another server, and can be answered on any',
  async (_, end) => {
    const client = new ScriptedClient([
      calls(['echo', { text: 'loud' }]),
      repliesWith('It was loud.'),
    ]);
    const model = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
    const servers = await startServers(() =>
      createModelDrivers({ servers: model, tools: [loudEcho] }),
    );
    const [first, second, third] = [
      await servers.start(),
      await servers.start(),
      await servers.start(),
    ];
    const { projectDir } = servers;
    const { sessionId } = await first.runtime.createSession({ cliType: 'openai', projectDir });
    const reader = new Reader(second.runtime, sessionId);
    await first.runtime.send(sessionId, 'Be loud');
    await reader.until((one) => approvals(one).length > 0);
    const approvalId = String(approvals(reader)[0]?.approvalId);

    await end(first);
    await reader.until((one) => approvals(one).length > 1);
    expect(approvals(reader)[1]).toMatchObject({ approvalId, status: 'create' });
    await third.runtime.answerApproval(sessionId, approvalId, { optionId: 'allow' });
    await reader.untilTurn('turn_complete');
    expect([...reader.items.values()].at(-1)).toMatchObject({ content: 'It was loud.' });
  },
);
