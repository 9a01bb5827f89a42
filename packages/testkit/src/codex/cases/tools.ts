import { answer, functionCall, message } from '../../responses-api/reply.ts';
import { greeter } from '../../mcp-server/index.ts';
import type { RecordedCase } from '../record.ts';
import { applyPatch, updatePlan, viewImage } from '../tools.ts';

const once = (
  name: string,
  about: string,
  script: RecordedCase['script'],
  rest: Partial<RecordedCase> = {},
): RecordedCase => ({
  name,
  about,
  files: { 'notes.txt': 'one\ntwo\nthree\n', 'old.txt': 'stale\n' },
  script,
  run: async (client) => {
    await client.prompt(await client.newSession(), 'Do it.');
  },
  ...rest,
});

/** Codex tells its model of a server's tools as a group of their own. */
const mcp = (
  name: string,
  about: string,
  approvalPolicy: 'never' | 'untrusted',
): RecordedCase[] => [
  once(
    name,
    about,
    () => [
      answer([
        functionCall('greet', { name: 'Ada' }, { namespace: 'mcp__greeter' }),
        functionCall('greet', { nobody: true }, { namespace: 'mcp__greeter' }),
      ]),
      answer('Greeted.'),
    ],
    {
      codex: { approvalPolicy },
      run: async (client) => {
        const { type: _, env, ...server } = greeter();
        const variables = Object.entries(env).map(([key, value]) => ({ name: key, value }));
        const session = await client.newSession([{ name: 'greeter', ...server, env: variables }]);
        await client.prompt(session, 'Greet them.');
      },
    },
  ),
];

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const toolCases: RecordedCase[] = [
  once('plan', 'A plan is made, and done step by step.', () => [
    answer([
      message('First a plan.'),
      updatePlan([
        ['Read the notes', 'in_progress'],
        ['Change them', 'pending'],
      ]),
    ]),
    answer(
      updatePlan([
        ['Read the notes', 'completed'],
        ['Change them', 'in_progress'],
      ]),
    ),
    answer('Going on.'),
  ]),
  once('patch-add', 'A patch makes a new file.', () => [
    answer(applyPatch(['*** Add File: fresh.txt', '+first', '+second'])),
    answer('Made.'),
  ]),
  once('patch-update', 'A patch changes a file; its text arrives in pieces.', () => [
    answer(
      applyPatch(['*** Update File: notes.txt', '@@', ' one', '-two', '+zwei', ' three'], {
        chunk: 20,
      }),
    ),
    answer('Changed.'),
  ]),
  once('patch-delete', 'A patch deletes a file.', () => [
    answer(applyPatch(['*** Delete File: old.txt'])),
    answer('Deleted.'),
  ]),
  once('patch-move', 'A patch moves a file and changes it.', () => [
    answer(
      applyPatch([
        '*** Update File: notes.txt',
        '*** Move to: moved.txt',
        '@@',
        ' one',
        '-two',
        '+zwei',
        ' three',
      ]),
    ),
    answer('Moved.'),
  ]),
  once('patch-many', 'One patch adds, changes and deletes.', () => [
    answer(
      applyPatch([
        '*** Add File: fresh.txt',
        '+first',
        '*** Update File: notes.txt',
        '@@',
        ' one',
        '-two',
        '+zwei',
        ' three',
        '*** Delete File: old.txt',
      ]),
    ),
    answer('All of it.'),
  ]),
  once('patch-fails', 'A patch does not fit its file.', () => [
    answer(applyPatch(['*** Update File: notes.txt', '@@', '-nowhere', '+here'])),
    answer('It did not fit.'),
  ]),
  once(
    'view-image',
    'The model looks at an image.',
    ({ projectDir }) => [answer(viewImage(`${projectDir}/pixel.png`)), answer('A pixel.')],
    { files: { 'pixel.png': Buffer.from(pixel, 'base64') } },
  ),
  ...mcp('mcp-tool', 'The model calls a tool of an MCP server that the client named.', 'never'),
  ...mcp('mcp-tool-asked', 'The same where Codex asks for what it does not trust.', 'untrusted'),
  once('tool-unknown', 'The model calls a tool that does not exist.', () => [
    answer(functionCall('teleport', { to: 'the moon' })),
    answer('I cannot.'),
  ]),
];
