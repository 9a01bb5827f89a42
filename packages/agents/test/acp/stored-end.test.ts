/** When the process that tells an agent's stored sessions ends. */
import { expect, test } from 'vitest';
import { runAgent } from './running-agent.ts';

test('INV-8: a provider that is closed starts no process for a question that comes late', async () => {
  const { provider, control } = await runAgent({ sessions: [] });
  await provider.listStoredSessions();
  const asked = await control.process();

  await provider.close();

  await asked.gone;
  expect(await provider.listStoredSessions()).toEqual([]);
  await expect(provider.readStoredHistory('a', '/one')).rejects.toMatchObject({
    code: 'PROTOCOL_ERROR',
  });
  expect(control.processes).toEqual([asked]);
});

test('INV-8: closing while a question is asked leaves no process', async () => {
  const { provider, control } = await runAgent({ sessions: [] });
  const asking = [provider.listStoredSessions(), provider.listStoredSessions()];

  await provider.close();

  await Promise.allSettled(asking);
  expect(control.processes.length).toBeLessThan(2);
  for (const { pid } of control.processes) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
