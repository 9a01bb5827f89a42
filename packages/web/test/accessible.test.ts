import { partOf } from '@liminal/testkit/at-length';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type ApprovalUpsert,
  mentionLink,
  type ToolCallUpsert,
  type UpsertObject,
} from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { approval, message, tool, turn, upsert } from './items.ts';
import { png } from './png.ts';
import { showAll } from './show-all.ts';
import { otherSession, sessionId, shareStage, stage, type Stage } from './stage.ts';

shareStage();

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

declare global {
  // The variable under which axe-core is available in the page.
  var axe: typeof import('axe-core');
}

/** The rules whose result depends on colours. All other rules are checked only in the light theme. */
const byColour = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the violations that axe finds on the current page, in the light and the dark theme: the rule and the element.
 * An open menu is outside of all landmarks, at the end of the page. This is not a violation (`region`), because the
 * menu has the focus, belongs to its button, and closes when the focus leaves it. For the same reason, axe itself
 * exempts dialogs.
 */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const all: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const rules = colorScheme === 'dark' ? byColour : undefined;
    const found = await page.evaluate(async (runOnly) => {
      const { violations } = await globalThis.axe.run({ resultTypes: ['violations'], runOnly });
      const isInMenu = (target: string) =>
        document.querySelector(target)?.closest('[data-base-ui-portal]') !== null;
      return violations.flatMap(({ id, nodes }) =>
        nodes
          .filter(({ target }) => id !== 'region' || !isInMenu(String(target[0])))
          .map(({ html }) => `${id}: ${html.slice(0, 200)}`),
      );
    }, rules);
    all.push(...found.map((finding) => `${colorScheme}: ${finding}`));
  }
  await page.emulateMedia({ colorScheme: null });
  return all;
}

const done = { status: 'complete' } as const;
const ended = { status: 'complete', startedAt: 0, endedAt: 5_000 } as const;

const markdown = `# A heading

Words with \`code\`, **weight**, [a link](https://example.com/) and a note.

- [x] Done
- [ ] To do

1. one
2. two

| a | b |
|---|---|
| 1 | 2 |

> quoted

\`\`\`ts
const answer: number = 42; // a comment
\`\`\`
`;

const diff = { path: '/code/shop/a.ts', oldText: 'one\ntwo\n', newText: 'one\nthree\n' };

function call(id: string, rest: Partial<ToolCallUpsert>): ToolCallUpsert {
  return tool(id, { ...done, toolOutput: `Output of ${id}`, ...rest });
}

const kinds = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'other',
] as const;

const long: UpsertObject[] = [
  message('u1', 'Do everything.', { origin: 'user', ...done }),
  { ...message('th', 'Let me think.'), type: 'thinking', providerId: 'p', ...done },
  message('a1', markdown, done),
  ...kinds.map((kind) =>
    call(kind, { kind, toolName: kind, diffs: kind === 'edit' ? [diff] : undefined }),
  ),
  call('failed', { toolOutputIsError: true, toolOutput: '\u001b[31mred\u001b[0m and plain' }),
  call('task', { toolName: 'Task', kind: 'think' }),
  call('inner', { parentCallId: 'task' }),
  {
    ...message('plan', ''),
    type: 'plan',
    entries: [
      { content: 'One', priority: 'high', status: 'completed' },
      { content: 'Two', priority: 'low', status: 'in_progress' },
      { content: 'Three', priority: 'low', status: 'pending' },
    ],
    ...done,
  } as unknown as UpsertObject,
];

function history(entries: UpsertObject[], ...turns: ReturnType<typeof turn>[]): void {
  stage.history = { entries, turns, cursor: 'c', hasMore: false };
}

const form: ApprovalUpsert['form'] = {
  type: 'object',
  properties: {
    version: { type: 'string', title: 'Version', description: 'As in the tag.' },
    channel: { type: 'string', title: 'Channel', enum: ['stable', 'next'] },
    dry: { type: 'boolean', title: 'Dry run' },
    count: { type: 'integer', title: 'Count', minimum: 1 },
  },
  required: ['version'],
};

const queued = (turnId: string) => ({
  turnId,
  message: 'And then the docs',
  queuedAt: '2026-01-01T00:00:00.000Z',
  state: 'queued' as const,
});

const others = () => [
  otherSession('o1', { state: 'waiting', title: 'Deploy the shop' }),
  otherSession('o2', { state: 'failed', cliType: 'codex', title: 'إصلاح صفحة الدخول' }),
  otherSession('o3', { state: 'queued', projectId: '/code/lib', projectDir: '/code/lib' }),
  otherSession('o4', { state: 'running', source: 'agent', title: 'A very long title '.repeat(9) }),
];

const visit = async () => stage.visitShared();

/** The states of the page, each with a function that reaches it. */
const states: Record<string, () => Promise<Page>> = {
  'the start page without a session': async () => {
    stage.answer = (_, path) => (path === '/api/projects' ? { projects: [] } : undefined);
    const page = await stage.visit({}, '/');
    await page.getByText('No sessions yet.').waitFor();
    return page;
  },
  'the start page without an agent': async () => {
    const reason = 'Claude Code is not installed: see https://example.com/.';
    const agent = {
      cliType: 'claude-code',
      name: 'Claude Code',
      description: '',
      available: false,
    };
    stage.answer = (_, path) =>
      path === '/api/agents' ? { agents: [{ ...agent, reason }] } : undefined;
    const page = await stage.visit({}, '/');
    await page.getByText('Not set up: Claude Code').click();
    await page.getByRole('link', { name: 'https://example.com/' }).waitFor();
    return page;
  },
  'the start page with sessions': async () => {
    stage.others = others();
    const page = await stage.visit({}, '/');
    await page.getByText('Recent').waitFor();
    return page;
  },
  'the dialog for a new session, with its folders': async () => {
    const folders = [
      { path: '/code/shop', name: 'shop' },
      { path: '/code/lib', name: 'lib' },
    ];
    stage.answer = (_, path) => (path.startsWith('/api/folders') ? { folders } : undefined);
    const page = await stage.visit({}, '/');
    await page.getByRole('main').getByRole('button', { name: 'New session' }).click();
    await page.getByRole('combobox', { name: 'Project folder' }).fill('/code/');
    await page.getByRole('option').first().waitFor();
    return page;
  },
  'an empty session': visit,
  'a session that is loading': async () => {
    stage.answer = (_, path) => (path.endsWith('/load') ? new Promise(() => undefined) : undefined);
    const page = await stage.visit({}, '/');
    await page.getByRole('main').getByRole('link').first().click();
    await page.getByLabel('Loading the conversation').waitFor();
    return page;
  },
  'a session that could not be opened': async () => {
    stage.refuse = (path) =>
      path.endsWith('/load') ? { code: 'SESSION_NOT_FOUND', message: 'It is gone.' } : undefined;
    const page = await stage.visit({}, '/');
    await page.getByRole('main').getByRole('link').first().click();
    await page.getByText('This session could not be opened').waitFor();
    return page;
  },
  'a page without its server': async () => {
    history(long, turn('t1', ended));
    const page = await stage.visitShared();
    await page.context().setOffline(true);
    stage.hangUp();
    await page.getByText('Server unreachable').waitFor();
    return page;
  },
  'an agent at work, with a queue': async () => {
    history(long, turn('t1', ended), turn('t2', { startedAt: 65_000 }));
    stage.info = { ...stage.info, queue: [queued('q1'), queued('q2')] };
    const page = await stage.visitShared();
    stage.send(upsert(message('m', 'Half a sen', { turnId: 't2' })));
    await page.getByText('Half a sen').waitFor();
    await page.getByRole('button', { name: 'Edit queued message' }).first().click();
    return page;
  },
  'a permission that is asked for': async () => {
    const command = tool('c', { toolArguments: { command: 'rm -rf build' } });
    history([command, approval('p', { callId: 'c' })], turn('t1'));
    const page = await stage.visitShared();
    await page
      .getByRole('button', { name: /^Allow/ })
      .first()
      .waitFor();
    return page;
  },
  'a form to fill in': async () => {
    history([approval('p', { title: 'How?', form })], turn('t1'));
    const page = await stage.visitShared();
    await page.getByRole('textbox', { name: 'Version' }).waitFor();
    await showAll(page);
    await page.getByRole('button', { name: /^(Send|Allow)( |$)/ }).click();
    return page;
  },
  'a turn that failed': async () => {
    const error = { code: 'OVERLOADED', message: 'Try later.' };
    history(
      [message('u1', 'Go.', { origin: 'user', ...done })],
      turn('t1', { status: 'error', error }),
    );
    const page = await stage.visitShared();
    await page.getByText('Something went wrong').waitFor();
    return page;
  },
  'a long conversation, closed and opened': async () => {
    history(long, turn('t1', ended));
    const page = await stage.visitShared();
    await page.getByText('A heading').waitFor();
    // An opened fold may contain further folds.
    for (;;) {
      const closed = page.getByRole('log').locator('button[aria-expanded="false"]:not(:disabled)');
      if ((await closed.count()) === 0) return page;
      await closed.first().click();
    }
  },
  'pinned and archived sessions, and the toast about an archived one': async () => {
    stage.info.session.archived = true;
    stage.others = [
      otherSession('o1', { pinned: true }),
      otherSession('o2'),
      otherSession('o3', { archived: true }),
    ];
    const page = await stage.visitShared();
    await page.getByRole('button', { name: /^Archived/ }).click();
    await page.getByRole('link', { name: 'Session o2' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    // The toast stays on the page while it has the focus.
    await page.getByRole('button', { name: 'Undo' }).focus();
    return page;
  },
  'the menu of a session in the sidebar': async () => {
    stage.others = [otherSession('o2')];
    const page = await stage.visitShared();
    await page.getByRole('link', { name: 'Session o2' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Archive' }).waitFor();
    return page;
  },
  'the question before a session is deleted': async () => {
    const page = await stage.visitShared();
    await page.getByRole('button', { name: 'Session', exact: true }).click();
    await page.getByRole('menuitem', { name: /^Delete/ }).click();
    await page.getByRole('dialog', { name: 'Delete this session?' }).waitFor();
    return page;
  },
  'the permissions granted for a project': async () => {
    const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
    const grants = ['edits in src/', 'npm test'].map((title) => ({
      rule: title,
      title,
      grantedAt: '2026-01-01T00:00:00.000Z',
    }));
    stage.answer = (_, path) =>
      path === '/api/agents'
        ? { agents: [{ ...demo, usesGrants: true }] }
        : path.startsWith('/api/project/grants')
          ? { grants }
          : undefined;
    const page = await stage.visitShared();
    await page.getByRole('button', { name: 'Session', exact: true }).click();
    await page.getByRole('menuitem', { name: /^Always allowed/ }).click();
    await page.getByRole('button', { name: 'Revoke: npm test' }).waitFor();
    return page;
  },
  'the palette with results': async () => {
    stage.others = others();
    const item = { runId: 'r', index: 0, itemId: 'i', type: 'message' };
    const hit = { sessionId, cliType: 'demo', projectId: '/code/shop', title: 'T', item };
    stage.answer = (_, path) =>
      path.startsWith('/api/search') ? { hits: [{ ...hit, snippet: 'the shop' }] } : undefined;
    const page = await stage.visitShared();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search commands and sessions' }).fill('shop');
    await page
      .getByRole('option')
      .filter({ hasText: /^the shop/ })
      .waitFor();
    return page;
  },
  'a search in the sidebar': async () => {
    stage.others = others();
    const item = { runId: 'r', index: 0, itemId: 'i', type: 'function_call' };
    const hit = { sessionId, cliType: 'demo', projectId: '/code/shop', title: 'T', item };
    stage.answer = (_, path) =>
      path.startsWith('/api/search') ? { hits: [{ ...hit, snippet: 'the shop' }] } : undefined;
    const page = await stage.visitShared();
    await page.getByRole('searchbox').fill('shop');
    await page.getByRole('region', { name: 'In conversations' }).getByRole('link').waitFor();
    return page;
  },
  'a search that fails': async () => {
    stage.refuse = (path) =>
      path.startsWith('/api/search') ? { code: 'STORE_READ_FAILED', message: 'No.' } : undefined;
    const page = await stage.visitShared();
    await page.getByRole('searchbox').fill('shop');
    await page.getByText('could not be searched').waitFor();
    return page;
  },
  'the keys': async () => {
    const page = await stage.visitShared();
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    return page;
  },
  'a fork, and files that would be changed back': async () => {
    const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
    const agents = [{ ...demo, forks: true, rewinds: true }];
    stage.answer = (_, path) => {
      if (path.endsWith('/rewind')) return { files: ['/code/a.ts'], insertions: 1, deletions: 2 };
      return path === '/api/agents' ? { agents } : undefined;
    };
    const forkedFrom = { sessionId: 'o1', turnId: 't9', title: 'Another' };
    stage.info = { ...stage.info, session: { ...stage.info.session, forkedFrom } };
    stage.history = {
      entries: [message('u1', 'Go.', { origin: 'user', ...done })],
      turns: [turn('t1', { ...done, endedAt: 1 })],
      cursor: 't1:0',
      hasMore: false,
    };
    const page = await stage.visitShared();
    await page.getByText('Forked from').waitFor();
    await page.getByRole('button', { name: 'Fork from here' }).waitFor();
    await page.getByRole('button', { name: 'Restore files to before this turn' }).click();
    await page.getByRole('button', { name: 'Restore 1 file' }).waitFor();
    return page;
  },
  'turns that were taken back, and the dialog that takes back more': async () => {
    const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
    const agents = [{ ...demo, rewinds: true, rewindsConversation: true }];
    const takenBack = { turnIds: ['t2'], message: 'Again.' };
    stage.answer = (_, path) => {
      if (path.endsWith('/rewind')) return { files: [], insertions: 0, deletions: 0, takenBack };
      return path === '/api/agents' ? { agents } : undefined;
    };
    stage.history = {
      entries: [
        message('u1', 'Go.', { origin: 'user', ...done }),
        message('n', 'One turn was taken back.', { turnId: 'r', origin: 'system', ...done }),
        message('u2', 'Again.', { turnId: 't2', origin: 'user', ...done }),
      ],
      turns: [
        turn('t1', { ...done, endedAt: 1 }),
        turn('r', { ...done, endedAt: 1, finishReason: 'rewind', rewoundTo: 't1' }),
        turn('t2', { ...done, endedAt: 1 }),
      ],
      cursor: 't2:0',
      hasMore: false,
    };
    const page = await stage.visitShared();
    await page.getByRole('button', { name: '1 turn taken back' }).click();
    await page.getByText('the agent does not know of this').waitFor();
    await page.getByRole('button', { name: 'Edit and send again' }).click();
    await page.getByRole('button', { name: 'Take back 1 turn' }).waitFor();
    return page;
  },
  'a new name for a session': async () => {
    const page = await stage.visitShared();
    await page.getByRole('button', { name: 'Session', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Title' }).waitFor();
    return page;
  },
  'a session’s menu': async () => {
    const page = await stage.visitShared();
    await page.getByRole('button', { name: 'Session', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
    return page;
  },
  'many tabs, some of which need a person': async () => {
    stage.others = [...others(), ...Array.from({ length: 30 }, (_, n) => otherSession(`n${n}`))];
    const page = await stage.visitShared();
    const ids = stage.others.map((session) => session.sessionId);
    await page.evaluate((all) => localStorage.setItem('liminal.tabs', JSON.stringify(all)), ids);
    await page.reload();
    await page.getByRole('button', { name: /^1 needs you/ }).waitFor();
    await page.getByRole('button', { name: /^All tabs/ }).click();
    await page.getByRole('menuitem').first().waitFor();
    return page;
  },
  'settings that are chosen': async () => {
    const choice = (value: string) => ({ value, name: value });
    const option = { id: 'model', name: 'Model', category: 'model', currentValue: 'small' };
    stage.info = {
      ...stage.info,
      configOptions: [{ ...option, options: [choice('small'), choice('large')] }],
      commands: [{ name: 'compact', description: 'Makes room.', hint: 'what to keep' }],
    };
    const page = await stage.visitShared();
    await page.getByRole('combobox', { name: 'Model' }).click();
    await page.getByRole('option', { name: 'large' }).waitFor();
    return page;
  },
  'commands of the agent': async () => {
    stage.info = {
      ...stage.info,
      commands: [{ name: 'compact', description: 'Makes room.', hint: 'what to keep' }],
    };
    const page = await stage.visitShared();
    await page.getByRole('textbox', { name: 'Message' }).fill('/');
    await page.getByRole('option').first().waitFor();
    return page;
  },
  'files to mention': async () => {
    const files = [
      { path: 'src/', name: 'src' },
      { path: 'src/cart/Cart.tsx', name: 'Cart.tsx' },
    ];
    stage.answer = (_, path) =>
      path.startsWith('/api/project/files') ? { files, truncated: true } : undefined;
    const page = await stage.visitShared();
    await page.getByRole('textbox', { name: 'Message' }).pressSequentially('See @');
    await page.getByRole('option').first().waitFor();
    return page;
  },
  'a mentioned file': async () => {
    const blocks = [mentionLink('/code/shop', 'src/cart/Cart.tsx')];
    const said = 'Is @src/cart/Cart.tsx right?';
    history([message('u', said, { ...done, origin: 'user', blocks })], turn('t1', ended));
    const page = await stage.visitShared();
    await page.getByRole('button', { name: '@src/cart/Cart.tsx' }).waitFor();
    return page;
  },
  'a phone': async () => {
    history(long, turn('t1', ended));
    stage.others = others();
    return stage.visit({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  },
  'formulas, diagrams and footnotes': async () => {
    const text = `A note[^1], $x^2$, [a file](a.ts) and ![an image](https://img.example/a.png).

\`\`\`mermaid
graph LR
  A --> B
\`\`\`

\`\`\`
${'line\n'.repeat(70)}\`\`\`

[^1]: Of this.`;
    history([message('a1', text, done), message('a2', text, done)], turn('t1', ended));
    const page = await stage.visitShared();
    await page
      .getByRole('img', { name: /^Diagram/ })
      .last()
      .waitFor();
    await page.locator('.katex').last().waitFor();
    return page;
  },
  'files in messages': async () => showFiles({}),
  'files in messages on a phone': async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const page = await showFiles(phone);
    await page.getByRole('button', { name: 'Attach files' }).tap();
    await page.getByRole('menuitem', { name: 'Take a photo' }).waitFor();
    return page;
  },
  'an image, large': async () => {
    const page = await showFiles({});
    await page.getByRole('button', { name: 'Show said.png' }).first().click();
    await page.getByRole('dialog', { name: 'said.png' }).getByRole('img').waitFor();
    return page;
  },
  'edits that were not made': async () => {
    const edit = (id: string) => tool(id, { kind: 'edit', toolName: 'Edit', diffs: [diff] });
    history([edit('a'), edit('b')], turn('t1', { ...ended, status: 'aborted' }));
    const page = await stage.visitShared();
    await page.getByRole('group', { name: '2 edits skipped' }).getByRole('button').click();
    return page;
  },
  'a file beside the conversation': async () => openFile({}),
  'a file on a phone': async () => openFile({ viewport: { width: 390, height: 844 } }),
  'the drawer of a phone': async () => {
    stage.others = others();
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const page = await stage.visit(phone);
    await page.getByRole('button', { name: 'Sessions, 1 needs you' }).tap();
    await page.getByRole('dialog', { name: 'Sessions' }).waitFor();
    return page;
  },
};

/** Shows a message with files, and a composer with files in each state. */
async function showFiles(options: Parameters<Stage['visit']>[0]): Promise<Page> {
  const buffer = png(60, 40);
  const said = { type: 'image', mimeType: 'image/png', name: 'said.png' } as const;
  const uri = stage.storeBlob(buffer, 'image/png');
  const blocks = [
    { ...said, uri },
    { type: 'resource', resource: { uri, name: 'notes.md', size: 7 } } as const,
  ];
  history(
    [
      message('u1', 'Look', { origin: 'user', ...done, blocks }),
      message('a1', 'I made one:', {
        ...done,
        blocks: [{ ...said, uri: `blob:${'0'.repeat(64)}` }],
      }),
    ],
    turn('t1', ended),
  );
  stage.info = {
    ...stage.info,
    accepts: { image: ['image/*'], audio: [], resource: [] },
    queue: [{ ...queued('q1'), blocks }],
  };
  const page = await (Object.keys(options ?? {}).length > 0
    ? stage.visit(options)
    : stage.visitShared());
  await page
    .locator('input[type="file"]')
    .first()
    .setInputFiles([
      { name: 'mine.png', mimeType: 'image/png', buffer },
      { name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from('text') },
    ]);
  await page.getByText('does not accept such files').waitFor();
  await page.getByText('is not stored any more').waitFor();
  return page;
}

async function openFile(options: Parameters<Stage['visit']>[0]): Promise<Page> {
  stage.answer = (_, path) => {
    if (!path.includes('/file?')) return undefined;
    const file = { path: '/code/shop/a.ts', size: 13, modifiedAt: '2026-01-01T00:00:00.000Z' };
    return { kind: 'text', ...file, text: 'const a = 1;\nconst b = 2;\n', isCut: false };
  };
  history([message('a1', 'See [it](a.ts:2).', done)], turn('t1', ended));
  const page = await (Object.keys(options ?? {}).length > 0
    ? stage.visit(options)
    : stage.visitShared());
  await page.getByRole('button', { name: 'it', exact: true }).click();
  await page.locator('[data-marked="2-2"]').waitFor();
  return page;
}

/** The states that short runs check. Together, they contain every part of the page. */
const short = [
  'the start page with sessions',
  'the dialog for a new session, with its folders',
  'a page without its server',
  'an agent at work, with a queue',
  'a permission that is asked for',
  'a form to fill in',
  'the palette with results',
  'settings that are chosen',
  'formulas, diagrams and footnotes',
  'the drawer of a phone',
  'files in messages',
];

it.each(partOf(states, short))(
  'axe finds no problem in this state of the page: %s',
  async (_, reach) => {
    expect(await findings(await reach())).toEqual([]);
  },
);
