/** Checks which actions in a page start an agent’s program. */
import { testAtLength } from '@liminal/testkit/at-length';
import { expect, it } from 'vitest';
import { dialog, field, past } from './controls/scene.ts';
import { openStage, stage } from './stage.ts';

openStage(() => {
  stage.history = past;
  stage.info = { ...stage.info, session: { ...stage.info.session, isAlive: false, state: 'idle' } };
});

const asked = (path: RegExp) => stage.requests.filter((one) => path.test(one.path));

it('writing in the composer starts the agent; merely opening a session does not, even if the session has a draft', async () => {
  const page = await stage.visit();
  await field(page).fill('Half a thought');
  await expect.poll(() => asked(/\/prewarm$/)).toHaveLength(1);
  await page.keyboard.type(', and more');

  await page.reload();
  await expect.poll(() => field(page).inputValue()).toBe('Half a thought, and more');
  await expect.poll(() => asked(/\/load$/)).toHaveLength(2);
  expect(asked(/\/prewarm$/)).toHaveLength(1);

  await field(page).press('End');
  await page.keyboard.type('.');
  await expect.poll(() => asked(/\/prewarm$/)).toHaveLength(2);
});

testAtLength(
  'the page asks an agent for its own sessions only when the person requests them, and shows the result',
  async () => {
    const agent = { description: '', available: true, sessionsOnRequest: true };
    const agents = [
      { ...agent, cliType: 'gemini', name: 'Gemini' },
      { ...agent, cliType: 'qwen', name: 'Qwen' },
      { cliType: 'demo', name: 'Demo', description: '', available: true },
    ];
    const found = { ...stage.info.session, sessionId: 'other', title: 'Old', source: 'agent' };
    stage.answer = (_, path) => {
      if (path === '/api/agents') return { agents };
      return path === '/api/agents/gemini/sessions' ? { sessions: [found] } : undefined;
    };
    stage.refuse = (path) =>
      path === '/api/agents/qwen/sessions'
        ? { code: 'PROTOCOL_ERROR', message: 'Qwen wants you to sign in first.' }
        : undefined;
    const page = await stage.visit();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search commands' }).fill('made elsewhere');
    await page.getByRole('option', { name: 'Import sessions from other tools' }).click();
    const rows = dialog(page, 'Import sessions');

    const look = (name: string) => rows.getByRole('button', { name: `Import sessions of ${name}` });
    await look('Gemini').click();
    await rows.getByText('1 found.').waitFor();
    await look('Qwen').press('Enter');
    await rows.getByText('Qwen wants you to sign in first.').waitFor();
    expect(await look('Demo').count()).toBe(0);
  },
);
