/** Tests commands of the agents' terminals that the page runs itself. */
import { beforeEach, expect, it } from 'vitest';
import { message, turn } from './items.ts';
import { sendCommand } from './page-command.ts';
import { openStage, sessionId, stage } from './stage.ts';

openStage();

const abilities = { forks: true, rewindsConversation: true, available: true, description: '' };
const agents = [
  { cliType: 'codex', name: 'Codex', ...abilities },
  { cliType: 'claude-code', name: 'Claude Code', ...abilities },
  { cliType: 'demo', name: 'Demo', ...abilities },
];
const option = (id: string, category: string, values: string[]) => ({
  id,
  name: id,
  category,
  currentValue: values[0]!,
  options: values.map((value) => ({ value, name: `The ${value}` })),
});

/** Gives the session this agent. The agent offers these commands. */
function play(cliType: string, commands: string[] = []): void {
  const session = { ...stage.info.session, cliType, state: 'idle' as const };
  const configOptions = [
    option('model', 'model', ['large', 'small']),
    option('mode', 'mode', ['ask', 'plan']),
  ];
  const listed = commands.map((name) => ({ name, description: `The agent’s ${name}` }));
  stage.info = { ...stage.info, session, configOptions, commands: listed };
}

beforeEach(() => {
  stage.answer = (_, path) => {
    if (path === '/api/agents') return { agents };
    if (path.endsWith('/rewind')) return { files: [], insertions: 0, deletions: 0 };
    if (path.endsWith('/send')) return { turnId: 't2', queued: false };
    return undefined;
  };
  const entries = [
    message('u', 'Hello?', { origin: 'user', status: 'complete' }),
    message('a', 'The *answer*.', { status: 'complete' }),
  ];
  stage.history = {
    entries,
    turns: [turn('t1', { status: 'complete' })],
    cursor: 't1:0',
    hasMore: false,
  };
});

const asked = (path: string) =>
  stage.requests.flatMap((one) => (one.path.endsWith(path) ? [one.body] : []));
const sent = () => asked('/send');

it.each([
  ['/rename', 'dialog', 'Rename the session'],
  ['/new', 'dialog', 'New session'],
  ['/clear', 'dialog', 'New session'],
  ['/resume', 'dialog', 'Commands'],
  ['/help', 'dialog', 'Keyboard'],
  ['/rewind', 'dialog', 'Edit and send again'],
  ['/delete', 'dialog', 'Delete'],
  ['/model', 'option', 'The small'],
  ['/approvals', 'option', 'The plan'],
] as const)(
  '%s in a session of Codex opens its dialog in the page, and is not sent to the agent',
  async (command, role, name) => {
    play('codex');
    const page = await stage.visit();
    await sendCommand(page, command);
    await page.getByRole(role, { name }).first().waitFor();
    expect(sent()).toEqual([]);
  },
);

it('/copy copies the last answer, as the agent wrote it', async () => {
  play('codex');
  const page = await stage.visit({ permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByText('answer').first().waitFor();
  await sendCommand(page, '/copy');
  await page.getByText('Copied the last answer.').waitFor();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toBe('The *answer*.');
});

it('/export saves the session as a file', async () => {
  play('codex');
  const page = await stage.visit();
  const saving = page.waitForEvent('download');
  await sendCommand(page, '/export');
  expect((await saving).suggestedFilename()).toBe(`liminal-${sessionId}.jsonl`);
});

it('the words after /rename become the title, and the words after /model select the model', async () => {
  play('codex');
  const page = await stage.visit();
  await sendCommand(page, '/rename The new shed');
  await expect.poll(() => asked('/title')).toContainEqual({ title: 'The new shed' });
  await sendCommand(page, '/model the SMALL');
  await expect.poll(() => JSON.stringify(asked('/config'))).toContain('small');
  expect(sent()).toEqual([]);
});

it('a command that the agent itself offers is sent to the agent', async () => {
  play('claude-code', ['rename', 'clear', 'model']);
  const page = await stage.visit();
  await sendCommand(page, '/clear');
  await expect.poll(sent).toHaveLength(1);
  // `/new` is an alias of the page's `/clear`, and the agent has no such command.
  await sendCommand(page, '/new');
  await page.getByRole('dialog', { name: 'New session' }).waitFor();
  expect(sent()).toHaveLength(1);
});

it('/plan in a session of Claude Code chooses Plan mode, and sends the words after it', async () => {
  play('claude-code');
  const page = await stage.visit();
  await sendCommand(page, '/plan a shed');
  await expect.poll(sent).toMatchObject([{ message: 'a shed' }]);
  expect(JSON.stringify(asked('/config'))).toContain('plan');
});

it('if the agent’s terminal has no such command, the message is sent to the agent as text', async () => {
  play('demo');
  const page = await stage.visit();
  await sendCommand(page, '/rename It');
  await expect.poll(sent).toHaveLength(1);
  expect(asked('/title')).toEqual([]);
});
