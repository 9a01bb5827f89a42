/** Tests background tasks, limits, compaction and forms with both real agents, as a user in a browser sees them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answer,
  apiError,
  applyPatch,
  cut,
  execCommand,
  functionCall,
  greeter,
  message,
  reply,
  times,
  toolUse,
} from '@liminal/testkit';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage({
  isSubscribed: true,
  codex: { approvalPolicy: 'on-request', sandbox: 'read-only' },
  config: { mcpServers: { own: greeter() } },
});

const resetsAt = Math.floor(Date.now() / 1_000) + 3_600;

/** The agents. Each has a story, as answers of its scripted model. */
const agents = {
  'Claude Code': {
    background: () => {
      const command = { command: 'sleep 600', run_in_background: true };
      stage.api.play([reply(toolUse('Bash', command)), reply('It runs on.'), reply('I see.')]);
    },
    overloaded: () => stage.api.play([...times(2, apiError(529)), reply('At last.')]),
    limits: () => {
      const headers = {
        'anthropic-ratelimit-unified-status': 'allowed_warning',
        'anthropic-ratelimit-unified-reset': String(resetsAt),
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
        'anthropic-ratelimit-unified-5h-utilization': '0.92',
        'anthropic-ratelimit-unified-5h-reset': String(resetsAt),
        'anthropic-ratelimit-unified-5h-surpassed-threshold': '0.9',
      };
      stage.api.play([reply('Hello.', { headers })]);
    },
    compaction: () =>
      stage.api.play(['A long story.', 'A summary.', 'Another.'].map((text) => reply(text))),
    form: () => stage.api.play([reply(toolUse('mcp__own__register', {})), reply('Welcome.')]),
    picture: () => stage.api.play([reply(toolUse('mcp__own__show', {})), reply('A dot.')]),
    heard: () =>
      JSON.stringify(stage.api.requests.findLast(({ kind }) => kind === 'main')?.body.messages),
    compacted: /compacted|summarised/i,
    waits: /overloaded|again|retry/i,
  },
  Codex: {
    background: () =>
      stage.codexApi.play([
        answer(execCommand('sleep 600', { yieldMs: 250 })),
        answer('It runs on.'),
        answer('I see.'),
      ]),
    overloaded: () => stage.codexApi.play([answer([message(['Half', cut])]), answer('At last.')]),
    limits: () => {
      const headers = {
        'x-codex-primary-used-percent': '92',
        'x-codex-primary-window-minutes': '300',
        'x-codex-primary-reset-at': String(resetsAt),
      };
      stage.codexApi.play([answer('Hello.', { headers })]);
    },
    compaction: () => stage.codexApi.play([answer('A long story.'), answer('A summary.')]),
    form: () =>
      stage.codexApi.play([
        answer(functionCall('register', {}, { namespace: 'mcp__own' })),
        answer('Welcome.'),
      ]),
    picture: () =>
      stage.codexApi.play([
        answer(functionCall('show', {}, { namespace: 'mcp__own' })),
        answer('A dot.'),
      ]),
    heard: () => JSON.stringify(stage.codexApi.requests.at(-1)?.body.input),
    compacted: /summarised/,
    waits: /Reconnecting|again/,
  },
};
const each = test.each(Object.entries(agents));

let projects = 0;

/** Begins a session in a project of its own. */
async function begin(agent: string) {
  const ada = await stage.person();
  const folder = await stage.project(`beside-${++projects}`);
  const session = await ada.startSession({ folder, agent });
  return { ada, folder, session, page: ada.page };
}

each(
  'background tasks of %s are listed, and stopped by their button',
  async (agent, { background }) => {
    background();
    const { session, page } = await begin(agent);
    await session.send('Start it.');
    await session.untilEnded(1);
    const list = page.getByRole('list', { name: 'In the background' });
    await list.getByText('sleep 600').waitFor();
    await list.getByRole('button', { name: /^Stop .*sleep 600/ }).click();
    await list.waitFor({ state: 'detached' });
    await session.send('And now?');
    await session.untilAnswer('I see.');
  },
);

each(
  'background tasks of %s are named when its process is ended',
  async (agent, { background }) => {
    background();
    const { ada, session, page } = await begin(agent);
    await session.send('Start it.');
    await session.untilEnded(1);
    const list = page.getByRole('list', { name: 'In the background' });
    await list.getByText('sleep 600').waitFor();
    await ada.endProcess();
    await session.conversation.getByText(/background tasks: .*sleep 600/).waitFor();
    await list.waitFor({ state: 'detached' });
    await page.reload();
    await session.conversation.getByText(/background tasks: .*sleep 600/).waitFor();
  },
);

each(
  'while the model of %s is overloaded, the turn shows what it waits for',
  async (agent, { overloaded, waits }) => {
    overloaded();
    const { session } = await begin(agent);
    await session.send('Hello?');
    await session.lastTurn.getByText(waits).first().waitFor();
    await session.untilAnswer('At last.');
    await session.untilEnded(1);
    expect(await session.answers.allTextContents()).toEqual(['At last.']);
  },
);

each('how much of its account %s has used is below the composer', async (agent, { limits }) => {
  limits();
  const { session, page } = await begin(agent);
  await session.send('Hello?');
  await session.untilEnded(1);
  const list = page.getByRole('list', { name: 'Usage limits' });
  await list.getByText(/5-hour limit.* 92% used, resets /).waitFor();
});

each(
  'the conversation with %s is compacted when a user types /compact',
  async (agent, { compaction, compacted }) => {
    compaction();
    const { session } = await begin(agent);
    await session.send('Tell me a story.');
    await session.untilEnded(1);
    await session.composer.fill('/compact');
    await session.page.keyboard.press('Enter');
    await session.page.keyboard.press('Enter');
    await session.lastTurn.getByText(compacted).first().waitFor();
    await session.untilEnded(2);
  },
);

each(
  'a form of an MCP server of %s is filled in, and the model gets the answers',
  async (agent, { form, heard }) => {
    form();
    const { session } = await begin(agent);
    await session.send('Sign me in.');
    const leave = session.permission(/^Permission: /);
    await leave
      .getByRole('button', { name: /^Allow/ })
      .first()
      .click();
    const asked = session.permission(/^Question: Who are you/);
    await asked.getByRole('textbox', { name: 'Name' }).fill('Ada');
    await asked.getByRole('radio', { name: 'large' }).check();
    await session.scrollRequest();
    await asked.getByRole('button', { name: /^Send|^Submit|^Accept/ }).click();
    await session.untilAnswer('Welcome.');
    await session.untilEnded(1);
    expect(heard()).toMatch(/Ada.*large/s);
  },
);

each(
  'an image from a tool of %s is shown unchanged, also after a reload',
  async (agent, { picture, heard }) => {
    picture();
    const { session, page } = await begin(agent);
    await session.send('Show me.');
    const leave = session.permission(/^Permission: /);
    await leave
      .getByRole('button', { name: /^Allow/ })
      .first()
      .click();
    await session.untilAnswer('A dot.');
    await session.untilEnded(1);
    await page.reload();
    await session.untilEnded(1);
    const card = session.tool(/show/);
    await session.unfold(card);
    await card.getByRole('button', { name: /^Show / }).click();
    const saving = page.waitForEvent('download');
    await page.getByRole('dialog').getByRole('link', { name: 'Download' }).click();
    const bytes = Buffer.concat(await (await (await saving).createReadStream()).toArray());
    expect(heard()).toContain(bytes.toString('base64'));
  },
);

test('when a background task has ended, Claude Code continues by itself, and the page shows the reason', async () => {
  stage.api.play([
    reply(toolUse('Bash', { command: 'sleep 1; echo done', run_in_background: true })),
    reply('It runs on.'),
    reply('It is done.'),
  ]);
  const { session } = await begin('Claude Code');
  await session.send('Start it.');
  await session.untilAnswer('It is done.');
  await session.untilEnded(2);
  expect(await session.prompts.count()).toBe(1);
  await session.lastTurn
    .getByText(/sleep 1; echo done/)
    .first()
    .waitFor();
});

test('Codex asks a question while it plans, and gets the answer', async () => {
  const question = {
    id: 'colour',
    header: 'Colour',
    question: 'Which colour?',
    options: [
      { label: 'Red', description: 'Like fire.' },
      { label: 'Blue', description: 'Like the sea.' },
    ],
  };
  stage.codexApi.play([
    answer(functionCall('request_user_input', { questions: [question] })),
    answer('A good colour.'),
  ]);
  const { session } = await begin('Codex');
  await session.choose('Mode', 'Plan');
  await session.send('Paint it.');
  const asked = session.permission(/^Question: Which colour/);
  await asked.getByRole('radio', { name: 'Blue' }).check();
  await asked.getByRole('button', { name: /^Send|^Submit|^Accept/ }).click();
  await session.untilAnswer('A good colour.');
  expect(agents.Codex.heard()).toContain('Blue');
});

test('the page shows a patch of Codex, and Codex applies the patch when it is allowed', async () => {
  stage.codexApi.play([
    answer(applyPatch(['*** Add File: new.txt', '+fresh'])),
    answer('It is there.'),
  ]);
  const { folder, session } = await begin('Codex');
  await session.send('Write it.');
  const request = session.permission('Permission: Change files');
  await request.getByRole('cell', { name: 'fresh' }).waitFor();
  await session.allow();
  await session.untilAnswer('It is there.');
  expect(await readFile(join(folder, 'new.txt'), 'utf8')).toBe('fresh\n');
});

test('if a message mentions a file, Codex’s model gets the file’s path', async () => {
  stage.codexApi.play([answer('I have read it.')]);
  const { folder, session, page } = await begin('Codex');
  await stage.project(folder.split('/').at(-1)!, { 'src/apples.ts': 'export const apples = 3;\n' });
  await session.composer.pressSequentially('Look at @appl');
  await page.getByRole('option', { name: /apples\.ts/ }).click();
  await session.page.keyboard.press('Enter');
  await session.untilAnswer('I have read it.');
  expect(agents.Codex.heard()).toContain('src/apples.ts');
});
