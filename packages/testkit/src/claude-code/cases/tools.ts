import { join } from 'node:path';
import { reply, text, thinking, toolUse } from '../../messages-api/reply.ts';
import type { RecordedCase } from '../record.ts';

type Script = RecordedCase['script'];

const once = (
  name: string,
  about: string,
  script: Script,
  rest: Partial<RecordedCase> = {},
): RecordedCase => ({
  name,
  about,
  files: { 'notes.txt': 'one\ntwo\nthree\n' },
  script,
  run: async (host) => {
    host.send('Do it.');
    await host.result();
  },
  ...rest,
});

const allTools = {
  tools: ['Grep', 'Glob', 'Read', 'Bash', 'Edit', 'Write', 'TodoWrite', 'ExitPlanMode'],
};

export const toolCases: RecordedCase[] = [
  once('tool-read', 'A file is read.', ({ projectDir }) => [
    reply([text('Reading.'), toolUse('Read', { file_path: join(projectDir, 'notes.txt') })]),
    reply('It has three lines.'),
  ]),
  once('tool-write', 'A new file is written, after a permission.', ({ projectDir }) => [
    reply(toolUse('Write', { file_path: join(projectDir, 'new.txt'), content: 'fresh\n' })),
    reply('Written.'),
  ]),
  once('tool-edit', 'A file is read, then edited, after a permission.', ({ projectDir }) => [
    reply(toolUse('Read', { file_path: join(projectDir, 'notes.txt') })),
    reply(
      toolUse('Edit', {
        file_path: join(projectDir, 'notes.txt'),
        old_string: 'two',
        new_string: 'zwei',
      }),
    ),
    reply('Edited.'),
  ]),
  once('tool-bash', 'A command runs without a question.', () => [
    reply(
      toolUse(
        'Bash',
        { command: 'echo out && echo err >&2', description: 'Print two lines' },
        { chunk: 10 },
      ),
    ),
    reply('It printed.'),
  ]),
  once('tool-bash-fails', 'A command ends with an exit code.', () => [
    reply(toolUse('Bash', { command: 'echo broken; (exit 3)', description: 'Fail' })),
    reply('It failed with 3.'),
  ]),
  once(
    'tool-grep',
    'Searching with Grep and Glob, where they are enabled.',
    ({ projectDir }) => [
      reply(toolUse('Grep', { pattern: 't[wh]', path: projectDir, output_mode: 'content' })),
      reply(toolUse('Glob', { pattern: '*.txt', path: projectDir })),
      reply('Found.'),
    ],
    { options: allTools },
  ),
  once('tool-error', 'A tool reports an error.', ({ projectDir }) => [
    reply(toolUse('Read', { file_path: join(projectDir, 'missing.txt') })),
    reply('It is not there.'),
  ]),
  once('tool-unknown', 'The model calls a tool that does not exist.', () => [
    reply(toolUse('Teleport', { to: 'the moon' })),
    reply('I cannot.'),
  ]),
  once(
    'tool-denied',
    'The user refuses a permission.',
    ({ projectDir }) => [
      reply(toolUse('Write', { file_path: join(projectDir, 'new.txt'), content: 'fresh\n' })),
      reply('Then not.'),
    ],
    { permit: () => false },
  ),
  once(
    'tools-parallel',
    'Three tools of one answer, finished in another order than they were called.',
    ({ projectDir }) => [
      reply([
        text('All at once.'),
        toolUse('Bash', { command: 'sleep 0.4; echo slow' }, { id: 'toolu_slow' }),
        toolUse('Read', { file_path: join(projectDir, 'notes.txt') }, { id: 'toolu_read' }),
        toolUse('Bash', { command: 'echo quick' }, { id: 'toolu_quick' }),
      ]),
      reply('All done.'),
    ],
  ),
  once('multi-block', 'Thinking, text and tools interleaved in one answer.', ({ projectDir }) => [
    reply([
      thinking('First I read.'),
      text('Reading now.'),
      toolUse('Read', { file_path: join(projectDir, 'notes.txt') }),
      text('And printing.'),
      toolUse('Bash', { command: 'echo printed' }),
    ]),
    reply([thinking('That went well.'), text('Done.')]),
  ]),
  once(
    'interrupt-tool',
    'Interrupted while a command runs.',
    () => [
      reply(toolUse('Bash', { command: 'tail -f notes.txt', description: 'Follow the notes' })),
      reply('Back again.'),
    ],
    {
      run: async (host) => {
        host.send('Wait a while.');
        await host.until(
          (message) => message.type === 'stream_event' && message.event.type === 'message_stop',
        );
        await host.interrupt();
        await host.result();
        host.send('Are you back?');
        await host.result();
      },
    },
  ),
  once(
    'interrupt-permission',
    'Interrupted while a permission is pending.',
    ({ projectDir }) => [
      reply(toolUse('Write', { file_path: join(projectDir, 'new.txt'), content: 'fresh\n' })),
    ],
    {
      permit: async (_, host) => {
        await host.interrupt();
        return false;
      },
    },
  ),
  once(
    'todo-write',
    'The model keeps a to-do list.',
    () => [
      reply(
        toolUse('TodoWrite', {
          todos: [
            { content: 'Look', status: 'completed', activeForm: 'Looking' },
            { content: 'Leap', status: 'in_progress', activeForm: 'Leaping' },
            { content: 'Land', status: 'pending', activeForm: 'Landing' },
          ],
        }),
      ),
      reply('Planned.'),
    ],
    {
      options: allTools,
      env: { CLAUDE_CODE_ENABLE_TODO_TOOLS: '1', CLAUDE_CODE_ENABLE_TASKS: '0' },
    },
  ),
  once(
    'task-list',
    'The model keeps its list with tools that make and change one entry each.',
    () => [
      reply([
        toolUse('TaskCreate', {
          subject: 'Look',
          description: 'Look around',
          activeForm: 'Looking',
        }),
        toolUse('TaskCreate', { subject: 'Leap', description: 'Leap over', activeForm: 'Leaping' }),
      ]),
      reply([
        toolUse('TaskUpdate', { taskId: '1', status: 'completed' }),
        toolUse('TaskUpdate', { taskId: '2', status: 'in_progress' }),
      ]),
      reply(toolUse('TaskList', {})),
      reply('Under way.'),
      reply(toolUse('TaskUpdate', { taskId: '2', status: 'completed' })),
      reply('All done.'),
    ],
    {
      env: { CLAUDE_CODE_ENABLE_TODO_TOOLS: '1' },
      run: async (host) => {
        host.send('Do it.');
        await host.result();
        host.send('Go on.');
        await host.result();
      },
    },
  ),
  once(
    'plan-mode',
    'In plan mode the model presents its plan and is allowed to go on.',
    ({ projectDir }) => [
      reply([
        text('Here is my plan.'),
        toolUse('ExitPlanMode', { plan: '# Plan\n1. Write the file.' }),
      ]),
      reply(toolUse('Write', { file_path: join(projectDir, 'new.txt'), content: 'fresh\n' })),
      reply('Done as planned.'),
    ],
    { options: { permissionMode: 'plan', ...allTools } },
  ),
];
