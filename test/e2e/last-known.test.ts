/** Tests that after a restart of the server, the settings of a session's agent are shown without starting the agent. */
import { answer, acpAgent, contractPrompts, contractScript, reply } from '@liminal/testkit';
import { afterAll, expect, test } from 'vitest';
import { agentProcesses } from './process-table.ts';
import type { SessionTab } from './session-tab.ts';
import { useStage } from './stage.ts';

const { control, command, args, env } = await acpAgent(contractScript);
afterAll(() => control.close());
const scripted = { command, args, env, name: 'Scripted', description: 'Plays a script.' };
const stage = useStage({ codex: {}, config: { agents: { scripted } } });

/** Returns the agent's settings and counts, as the message field shows them. */
async function shown({ page }: SessionTab) {
  const form = page.getByRole('form', { name: 'Composer' });
  return {
    settings: await form.getByRole('combobox').allInnerTexts(),
    usage: await form.locator('[data-usage]').allInnerTexts(),
    commands: (await page
      .getByRole('textbox', { name: 'Message', exact: true })
      .getAttribute('placeholder'))!,
  };
}

test.each([
  { agent: 'Claude Code', usage: /\d/, setting: 'Permissions', value: 'Accept edits' },
  { agent: 'Codex', usage: /\d/, setting: 'Approvals', value: 'Read Only' },
  { agent: 'Scripted', usage: /^$/, setting: 'Model', value: 'Large' },
])(
  'after a restart, $agent’s settings, commands and counts are shown without starting the agent, and can be changed',
  async ({ agent, usage, setting, value }) => {
    const folder = await stage.project(`last-${agent.toLowerCase().replace(' ', '-')}`);
    stage.api.play([reply('Hello.')]);
    stage.codexApi.play([answer('Hello.')]);
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent });
    await session.send(agent === 'Scripted' ? contractPrompts.text : 'Hi.');
    await session.untilEnded(1);
    await expect
      .poll(async () => {
        const { settings, commands, usage: counts } = await shown(session);
        const isCounted = usage.test(counts.join());
        return settings.length > 0 && commands.includes('/ for commands') && isCounted;
      })
      .toBe(true);
    const before = await settled(session);

    stage.expectComplaints(/WebSocket connection to|Failed to load resource|ERR_/);
    await stage.server.crash();
    await stage.server.restart();
    await ada.page.reload();
    await session.untilEnded(1);
    await expect.poll(() => shown(session)).toEqual(before);
    expect(await agentProcesses(stage.server.pid)).toEqual([]);
    await session.choose(setting, value);
    expect(await agentProcesses(stage.server.pid)).not.toEqual([]);
    await expect.poll(async () => (await shown(session)).settings.join()).toContain(value);
  },
);

/** Returns the contents of the message field as soon as they no longer change. */
async function settled(session: SessionTab) {
  let last = await shown(session);
  await expect
    .poll(async () => {
      const before = last;
      last = await shown(session);
      return JSON.stringify(before) === JSON.stringify(last);
    })
    .toBe(true);
  return last;
}
