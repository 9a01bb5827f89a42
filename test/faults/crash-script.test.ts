import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { FaultServer } from './server.ts';

const code = `await tools.bash({ command: 'echo once >> log.txt' });
const [written] = await Promise.all([
  tools.write({ path: 'a.txt', content: 'whole' }),
  tools.read({ path: 'log.txt' }),
]);
return [written, Math.random(), Date.now()];`;

test('INV-2 INV-6 if a server is killed twice while a script waits for a permission, the script continues: its earlier calls are not repeated, and the model gets its result', async () => {
  const config = { models: { anthropic: { type: 'anthropic', model: 'claude-scripted' } } };
  const faults = await FaultServer.start({ config });
  const { requests, server, folders, api } = faults;
  const file = (name: string) => readFile(join(folders.project, name), 'utf8');
  api.play([reply(toolUse('run_script', { code })), reply('It is written.')]);
  const sessionId = await faults.create('anthropic');
  const before = await faults.follow(sessionId);
  const { turnId } = await requests.send(sessionId, 'Write.');
  const bash = await before.approval(turnId);
  await requests.answerApproval(sessionId, bash.approvalId, { optionId: 'allow' });
  const asked = await before.until(({ turns }) =>
    turns
      .flatMap(({ items }) => items)
      .find((item) => item.type === 'approval' && item.approvalId !== bash.approvalId),
  );
  expect(asked).toMatchObject({ title: expect.stringContaining('a.txt') });
  await before.until(({ turns }) =>
    turns[0]?.items.some(
      (item) => item.type === 'tool_call' && item.toolName === 'read' && item.status === 'complete',
    ),
  );

  for (let crash = 1; crash <= 2; crash += 1) {
    await server.crash();
    await faults.census.untilEmpty();
    await server.restart();
    const reader = await faults.follow(sessionId);
    const again = await reader.until(({ turns }) => turns.length === crash + 1 && turns.at(-1));
    expect(await reader.approval(again.turnId)).toMatchObject({
      approvalId: asked.type === 'approval' ? asked.approvalId : '',
      title: asked.type === 'approval' ? asked.title : '',
    });
  }
  await expect(file('a.txt')).rejects.toThrow('ENOENT');

  const reader = await faults.follow(sessionId);
  const last = reader.turns.at(-1)?.turnId ?? '';
  const { approvalId } = await reader.approval(last);
  await requests.answerApproval(sessionId, approvalId, { optionId: 'allow' });
  expect(await reader.ended(last)).toMatchObject({ status: 'complete' });
  expect(reader.agentText(last)).toBe('It is written.');
  expect(await file('a.txt')).toBe('whole');
  expect(await file('log.txt')).toBe('once\n');
  const told = JSON.stringify(api.requests.at(-1)?.body.messages);
  expect(told.match(/tool_result/g)).toHaveLength(1);
  expect(told).toMatch(/a\.txt[^,]*,0\.\d+,\d{13}\]/);
});
