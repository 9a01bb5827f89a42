import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { testAtLength } from '@liminal/testkit/at-length';
import { claudeEnvironment, greeter, reply, type MessagesRequest } from '@liminal/testkit';
import { mentionLink } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { runClaude, type RunningClaude } from './running-claude.ts';

const run = promisify(execFile);
const program = createRequire(import.meta.url).resolve(
  `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
);

/** The files of a project, each with unique text. */
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
  'Preview content is rendered as markdown in a monospace box.',
];

/**
 * How Liminal's requests may differ from requests of `claude -p` in the same folder. The interactive terminal (2.1.330)
 * sends the same prompt and tools, without the program's name, and with these differences: it explains the prefix `!`
 * of its input line and has an agent that explains the terminal (claude-code-guide); its background tasks have no
 * limit, and its subagents always run in the background.
 */
const differences: { line: RegExp; reason: string }[] = [
  { line: /^header (user-agent|x-client-app):/, reason: 'names the program that asks' },
  { line: /cc_entrypoint=/, reason: 'names the program that asks' },
  { line: /^header content-length:/, reason: 'follows from the other differences' },
  { line: /session_id|session-id/, reason: 'each session has its own' },
  {
    line: /AskUserQuestion|(Enter|Exit)PlanMode/,
    reason: 'Liminal can ask a person, and -p cannot',
  },
  {
    line: /^body\.thinking\.display:|^header anthropic-beta: thinking-display-updates/,
    reason: 'Liminal shows thoughts to a person as they arrive, and -p does not',
  },
  {
    line: /default (600|1800)000/,
    reason: 'background tasks may take longer if a person waits for them',
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
  // Close the input: otherwise Claude Code would wait for more.
  run('/bin/sh', ['-c', 'exec "$@" < /dev/null', 'sh', program, ...args], {
    cwd: workspace.projectDir,
    env: claudeEnvironment(workspace.home, api.url),
  });

const lastOf = ({ api }: RunningClaude): MessagesRequest =>
  api.requests.findLast(({ kind }) => kind === 'main')!;

const promptOf = (request: MessagesRequest): string => JSON.stringify(request.body.system);

const text = 'Compare @src/a.ts with @"notes of mine.md" in @lib/, please.';
const mentioned = {
  'src/a.ts': 'export const apples = 3;',
  'notes of mine.md': 'Pears are out.',
};
const later = {
  'src/b.ts': 'export const cherries = 5;',
  'more notes.md': 'Quinces are in.',
};
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** The text that the model receives, without the listed differences. */
const toldTo = (claude: RunningClaude) =>
  leaves('messages', lastOf(claude).body.messages).filter((line) => !isAllowed(line));

test('the model gets the same text as from a terminal, also for mentioned files, except for the listed differences; a restart does not change the prompt', async () => {
  const claude = await runClaude(() => () => reply('Yes.'), {
    files: { ...files, ...mentioned, 'lib/plums.ts': '', ...later },
    config,
  });
  const { projectDir } = claude.workspace;
  const linksTo = (...paths: string[]) => paths.map((path) => mentionLink(projectDir, path));
  const links = linksTo('src/a.ts', 'notes of mine.md', 'lib/');
  await run('git', ['init', '--quiet'], { cwd: projectDir });
  await inTerminal(claude, '-p', text);
  const expected = linesOf(lastOf(claude));
  const expectedOfFiles = toldTo(claude);
  const listener = await claude.create();
  const response = await listener.ask(text, links);
  const told = linesOf(lastOf(claude));
  const toldOfFiles = toldTo(claude);

  expect(told.filter((line) => !isAllowed(line))).toEqual(
    expected.filter((line) => !isAllowed(line)),
  );
  const all = told.join('\n');
  expect(words.filter((word) => !all.includes(word))).toEqual([]);
  const onlyOnce = [...told, ...expected].filter(
    (line) => !(told.includes(line) && expected.includes(line)),
  );
  const unused = differences.filter(({ line }) => !onlyOnce.some((one) => line.test(one)));
  expect(unused).toEqual([]);

  // The mentioned files reach the model once.
  expect(toldOfFiles).toEqual(expectedOfFiles);
  const count = (words: string) => toldOfFiles.join('\n').split(words).length - 1;
  for (const words of [...Object.values(mentioned), 'plums.ts']) expect(count(words)).toBe(1);
  expect(response.outputItems[0]).toMatchObject({ content: text, blocks: links });

  // The prompt is unchanged, so that the model’s prompt cache stays valid. Files also reach the model beside an image,
  // and through links that the text does not mention.
  const prompt = promptOf(lastOf(claude));
  await claude.provider.killSession(listener.sessionId);
  await claude.provider.loadSession(listener.sessionId);
  const image = { type: 'image', mimeType: 'image/png', data: png } as const;
  await listener.ask('Look at @src/b.ts', [...linksTo(...Object.keys(later)), image]);
  expect(promptOf(lastOf(claude))).toBe(prompt);
  const toldLater = toldTo(claude).join('\n');
  for (const words of Object.values(later)) expect(toldLater).toContain(words);
});

testAtLength(
  'a resumed conversation that began with a shorter prompt gets the whole prompt, with the configured addition at its end',
  async () => {
    const claude = await runClaude(() => () => reply('Yes.'), {
      provider: { appendSystemPrompt: 'Answer in British English.' },
    });
    const sessionId = randomUUID();
    const short = ['--system-prompt', 'You are terse.', '--session-id', sessionId];
    await inTerminal(claude, '-p', 'Hello there', ...short);
    expect(promptOf(lastOf(claude))).toContain('You are terse.');
    const { projectDir } = claude.workspace;
    await claude.provider.loadSession(sessionId, { projectDir });
    await claude.listen(sessionId).ask('And now?');
    expect(promptOf(lastOf(claude))).not.toContain('You are terse.');
    expect(promptOf(lastOf(claude)).length).toBeGreaterThan(5_000);
    expect(promptOf(lastOf(claude))).toContain('You are Claude Code');
    expect(promptOf(lastOf(claude))).toMatch(/Answer in British English\.[^.]*$/);
  },
);
