import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { claudeEnvironment, greeter, reply, type MessagesRequest } from '@liminal/testkit';
import { mentionLink } from '@liminal/protocol';
import { describe, expect, test } from 'vitest';
import { runClaude, type RunningClaude } from './running-claude.ts';

const run = promisify(execFile);
const program = createRequire(import.meta.url).resolve(
  `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
);

/** The files of a project, each with a word of its own. */
const files = {
  'CLAUDE.md': 'In this project, use tabs.',
  'CLAUDE.local.md': 'On this machine, use port 4000.',
  '.claude/settings.json': JSON.stringify({ env: { SHOP: 'open' } }),
  '.claude/settings.local.json': JSON.stringify({ outputStyle: 'Sailor' }),
  '.claude/skills/greet/SKILL.md':
    '---\nname: greet\ndescription: Greets customers warmly.\n---\nSay hello.\n',
  '.claude/agents/critic.md':
    '---\nname: critic\ndescription: Finds faults in orders.\n---\nYou find faults.\n',
  '.claude/output-styles/sailor.md':
    '---\nname: Sailor\ndescription: At sea.\nkeep-coding-instructions: true\n---\nTalk like a sailor.\n',
  '.mcp.json': JSON.stringify({ mcpServers: { door: greeter() } }),
};

/** The files of the user's own configuration. */
const config = {
  'CLAUDE.md': 'Always be brief.',
  'settings.json': JSON.stringify({ model: 'sonnet', enableAllProjectMcpServers: true }),
};

const words = [
  'You are an interactive agent that helps users',
  'In this project, use tabs.',
  'On this machine, use port 4000.',
  'Always be brief.',
  'greet: Greets customers warmly.',
  'critic: Finds faults in orders.',
  'Talk like a sailor.',
  'mcp__door__greet',
];

/**
 * How a request of Liminal's may differ from one of `claude -p` in the same folder. The terminal's own screens
 * (2.1.330) send the same prompt and tools, without the program's name, and with these differences: they explain the
 * prefix `!` of their input line and have an agent that explains them (claude-code-guide); background tasks have no
 * limit there, and subagents always run in the background; questions may have previews.
 */
const differences: { line: RegExp; reason: string }[] = [
  { line: /^header (user-agent|x-client-app):/, reason: 'names the program that asks' },
  { line: /cc_entrypoint=/, reason: 'names the program that asks' },
  { line: /^header content-length:/, reason: 'follows from the others' },
  { line: /session_id|session-id/, reason: 'each session has its own' },
  {
    line: /AskUserQuestion|(Enter|Exit)PlanMode/,
    reason: 'here is a person to be asked, whom -p does not have',
  },
  {
    line: /^body\.thinking\.display:|^header anthropic-beta: thinking-display-updates/,
    reason: 'here a person sees thoughts come, whom -p does not have',
  },
  {
    line: /default (600|1800)000/,
    reason: 'what runs in the background may take longer where somebody waits for it',
  },
];

/** All fields of a request, line by line. */
function linesOf({ headers, body }: MessagesRequest): string[] {
  const { system, tools = [], messages, ...rest } = body;
  const betas = headers['anthropic-beta']?.split(',') ?? [];
  const others = Object.entries(headers).filter(([name]) => name !== 'anthropic-beta');
  return [
    ...others.map(([name, value]) => `header ${name}: ${value}`),
    ...betas.map((beta) => `header anthropic-beta: ${beta}`),
    ...leaves('body', rest),
    ...leaves('system', system),
    ...tools.flatMap((tool) => leaves(`tool ${tool.name}`, tool)),
    ...leaves('messages', messages),
  ];
}

function leaves(path: string, value: unknown): string[] {
  if (typeof value === 'string') return value.split('\n').map((line) => `${path}: ${line}`);
  if (Array.isArray(value)) return value.flatMap((one) => leaves(`${path}[]`, one));
  if (typeof value !== 'object' || value === null) return [`${path}: ${String(value)}`];
  return Object.entries(value).flatMap(([key, inner]) => leaves(`${path}.${key}`, inner));
}

const isAllowed = (line: string): boolean => differences.some((one) => one.line.test(line));

/** Runs Claude Code itself, as a user would. */
const inTerminal = ({ workspace, api }: RunningClaude, ...args: string[]) =>
  // Its input must end, or it waits for more.
  run('/bin/sh', ['-c', 'exec "$@" < /dev/null', 'sh', program, ...args], {
    cwd: workspace.projectDir,
    env: claudeEnvironment(workspace.home, api.url),
  });

const lastOf = ({ api }: RunningClaude): MessagesRequest =>
  api.requests.findLast(({ kind }) => kind === 'main')!;

const promptOf = (request: MessagesRequest): string => JSON.stringify(request.body.system);

test('the model gets the same as in a terminal, except for listed differences', async () => {
  const claude = await runClaude(() => () => reply('Yes.'), { files, config });
  await run('git', ['init', '--quiet'], { cwd: claude.workspace.projectDir });
  await inTerminal(claude, '-p', 'Hello there');
  const expected = linesOf(lastOf(claude));
  await (await claude.create()).ask('Hello there');
  const told = linesOf(lastOf(claude));

  expect(told.filter((line) => !isAllowed(line))).toEqual(
    expected.filter((line) => !isAllowed(line)),
  );
  const text = told.join('\n');
  expect(words.filter((word) => !text.includes(word))).toEqual([]);
  const onlyOnce = [...told, ...expected].filter(
    (line) => !(told.includes(line) && expected.includes(line)),
  );
  const unused = differences.filter(({ line }) => !onlyOnce.some((one) => line.test(one)));
  expect(unused).toEqual([]);
});

describe('files that a message mentions', () => {
  const text = 'Compare @src/a.ts with @"notes of mine.md" in @lib/, please.';
  const mentioned = {
    'src/a.ts': 'export const apples = 3;',
    'notes of mine.md': 'Pears are out.',
  };
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

  const begin = async () => {
    const all = { ...mentioned, 'lib/plums.ts': '' };
    const claude = await runClaude(() => () => reply('Yes.'), { files: all });
    const { projectDir } = claude.workspace;
    const links = ['src/a.ts', 'notes of mine.md', 'lib/'].map((path) =>
      mentionLink(projectDir, path),
    );
    return { claude, links };
  };
  /** What the model is told, less what differs anyway. */
  const toldTo = (claude: RunningClaude) =>
    leaves('messages', lastOf(claude).body.messages).filter((line) => !isAllowed(line));

  test('reach the model as in a terminal, and once', async () => {
    const { claude, links } = await begin();
    await inTerminal(claude, '-p', text);
    const expected = toldTo(claude);
    const response = await (await claude.create()).ask(text, links);
    const told = toldTo(claude);
    expect(told).toEqual(expected);
    const count = (words: string) => told.join('\n').split(words).length - 1;
    for (const words of [...Object.values(mentioned), 'plums.ts']) expect(count(words)).toBe(1);
    expect(response.outputItems[0]).toMatchObject({ content: text, blocks: links });
  });

  test('reach it beside an image, too, and links that the text does not mention', async () => {
    const { claude, links } = await begin();
    const image = { type: 'image', mimeType: 'image/png', data: png } as const;
    await (await claude.create()).ask('Look at @src/a.ts', [...links.slice(0, 2), image]);
    const told = toldTo(claude).join('\n');
    for (const words of Object.values(mentioned)) expect(told).toContain(words);
  });
});

test('the configured addition to the prompt is at its end', async () => {
  const claude = await runClaude(() => () => reply('Yes.'), {
    provider: { appendSystemPrompt: 'Answer in British English.' },
  });
  await (await claude.create()).ask('Hello there');
  expect(promptOf(lastOf(claude))).toContain('You are Claude Code');
  expect(promptOf(lastOf(claude))).toMatch(/Answer in British English\.[^.]*$/);
});

test('a conversation with a lesser prompt gets the whole one when it is gone on with', async () => {
  const claude = await runClaude(() => () => reply('Yes.'));
  const sessionId = randomUUID();
  const short = ['--system-prompt', 'You are terse.', '--session-id', sessionId];
  await inTerminal(claude, '-p', 'Hello there', ...short);
  expect(promptOf(lastOf(claude))).toContain('You are terse.');
  const { projectDir } = claude.workspace;
  await claude.provider.loadSession(sessionId, { projectDir });
  await claude.listen(sessionId).ask('And now?');
  expect(promptOf(lastOf(claude))).not.toContain('You are terse.');
  expect(promptOf(lastOf(claude)).length).toBeGreaterThan(5_000);
});

test('the prompt stays as it is over restarts, so that the model’s cache of it holds', async () => {
  const claude = await runClaude(() => () => reply('Yes.'), { files, config });
  const listener = await claude.create();
  await listener.ask('Hello there');
  const first = promptOf(lastOf(claude));
  await claude.provider.killSession(listener.sessionId);
  await claude.provider.loadSession(listener.sessionId);
  await listener.ask('And now?');
  expect(promptOf(lastOf(claude))).toBe(first);
});
