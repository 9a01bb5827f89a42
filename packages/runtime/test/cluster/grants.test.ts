import { createModelDrivers } from '@liminal/agents/models';
import { calls, loudEcho, repliesWith, ScriptedClient } from '@liminal/agents/testing';
import { expect, test } from 'vitest';
import { Reader } from '../reader.ts';
import { longLease, startServers } from './servers.ts';

const approvals = (reader: Reader) =>
  [...reader.items.values()].filter((item) => item.type === 'approval');

test('a project’s grants are listed and removed on every server, whichever owns its sessions', async () => {
  const acts = [1, 2, 3].flatMap(() => [calls(['echo', { text: 'loud' }]), repliesWith('So.')]);
  const client = new ScriptedClient(acts);
  const model = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const servers = await startServers(() =>
    createModelDrivers({ servers: model, tools: [loudEcho] }),
  );
  const { projectDir } = servers;
  const [a, b] = [
    (await servers.start(longLease)).runtime,
    (await servers.start(longLease)).runtime,
  ];
  const { sessionId: onA } = await a.createSession({ cliType: 'openai', projectDir });
  const { sessionId: onB } = await b.createSession({ cliType: 'openai', projectDir });

  const readers = [new Reader(a, onA), new Reader(b, onB)] as const;
  await a.send(onA, 'Be loud');
  await readers[0].until((one) => approvals(one).length === 1);
  const asked = String(approvals(readers[0])[0]?.approvalId);
  await b.answerApproval(onA, asked, { optionId: 'always' });
  await readers[0].untilTurn('turn_complete');
  expect(await b.listGrants(projectDir)).toMatchObject([{ title: 'loud echoes' }]);

  await b.send(onB, 'Be loud');
  await readers[1].untilTurn('turn_complete');
  expect(approvals(readers[1])).toEqual([]);
  await b.removeGrant(projectDir, 'tool:echo');
  expect(await a.listGrants(projectDir)).toEqual([]);
  await a.send(onA, 'Be loud');
  await readers[0].until((one) => approvals(one).length === 2);
});
