import { answer, functionCall, message, webSearch } from '../../responses-api/reply.ts';
import { pause } from '../../scripted-server/stream-incident.ts';
import { greeter } from '../../mcp-server/index.ts';
import { agree, hasMethod, type RecordedCase } from '../record.ts';
import { applyPatch, updatePlan, viewImage } from '../tools.ts';
import { pixel } from '../../pixel.ts';

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

const servers = () => {
  const { type: _, ...server } = greeter();
  return { greeter: server, broken: { command: '/bin/false' } };
};

/** Makes a call of a tool of the MCP server. Codex presents a server's tools to its model as a group. */
const mcpCall = (tool: string, input: Record<string, unknown>) =>
  functionCall(tool, input, { namespace: 'mcp__greeter' });

/**
 * Makes a case with calls of MCP tools. Codex asks before every tool of a server that does not describe the effects of
 * its tools.
 */
const mcp = (
  name: string,
  about: string,
  calls: ReturnType<typeof mcpCall>[],
  rest: Partial<RecordedCase> = {},
): RecordedCase =>
  once(name, about, () => [...calls.map((call) => answer(call)), answer('Called.')], {
    codex: { approvalPolicy: 'on-request' },
    run: async (client) => {
      const config = { mcp_servers: servers() };
      await client.prompt(await client.newSession({ config }), 'Call it.');
    },
    ...rest,
  });

/**
 * Answers with `result`: either the server's own request, or Codex's separate request for permission to call the tool.
 */
const answered =
  (result: unknown, isOfTheTool: boolean): NonNullable<RecordedCase['permit']> =>
  (request) => {
    const meta = Object(Object(request.params)._meta) as Record<string, unknown>;
    const isAboutTool = meta['codex_approval_kind'] === 'mcp_tool_call';
    return isAboutTool === isOfTheTool ? Promise.resolve(result) : agree(request);
  };

const question = functionCall('request_user_input', {
  questions: [
    {
      id: 'colour',
      header: 'Colour',
      question: 'Which colour?',
      options: [
        { label: 'Red (Recommended)', description: 'It is warm.' },
        { label: 'Blue', description: 'It is cold.' },
      ],
    },
    {
      id: 'size',
      header: 'Size',
      question: 'Which size?',
      options: [
        { label: 'Small', description: 'Fits anywhere.' },
        { label: 'Large', description: 'Holds more.' },
      ],
    },
  ],
});

const planMode = {
  collaborationMode: {
    mode: 'plan',
    settings: { model: 'scripted', reasoning_effort: null, developer_instructions: null },
  },
};

const asking = (name: string, about: string, rest: Partial<RecordedCase> = {}): RecordedCase =>
  once(name, about, () => [answer([message('A question.'), question]), answer('Thank you.')], {
    run: async (client) => {
      await client.prompt(await client.newSession(), 'Ask me.', planMode);
    },
    ...rest,
  });

const patchCases: RecordedCase[] = [
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
];

const mcpCases: RecordedCase[] = [
  mcp(
    'mcp-tool',
    'The model calls tools of an MCP server, well and badly; nobody is asked.',
    [mcpCall('greet', { name: 'Ada' }), mcpCall('greet', { nobody: true })],
    { codex: { approvalPolicy: 'never' } },
  ),
  mcp(
    'mcp-tool-shows',
    'A tool of an MCP server answers with a picture, a sound, a file and a link beside its text.',
    [mcpCall('show', {})],
    {
      codex: { approvalPolicy: 'never' },
      run: async (client) => {
        const thread = await client.newSession({ config: { mcp_servers: servers() } });
        await client.prompt(thread, 'Call it.');
        await client.history(thread);
      },
    },
  ),
  mcp('mcp-tool-asked', 'The call of an MCP server’s tool is allowed.', [
    mcpCall('greet', { name: 'Ada' }),
    mcpCall('greet', { name: 'Ada' }),
  ]),
  mcp(
    'mcp-tool-session',
    'The call of an MCP server’s tool is allowed for the session: the next is not asked for.',
    [mcpCall('greet', { name: 'Ada' }), mcpCall('greet', { name: 'Bob' })],
    { permit: answered({ action: 'accept', content: {}, _meta: { persist: 'session' } }, true) },
  ),
  mcp(
    'mcp-tool-rejected',
    'The call of an MCP server’s tool is refused, and the model goes on.',
    [mcpCall('greet', { name: 'Ada' })],
    { permit: answered({ action: 'decline', content: null, _meta: null }, true) },
  ),
  mcp(
    'mcp-tool-cancelled',
    'The question about an MCP server’s tool is dismissed.',
    [mcpCall('greet', { name: 'Ada' })],
    { permit: answered({ action: 'cancel', content: null, _meta: null }, true) },
  ),
  mcp(
    'mcp-elicitation',
    'An MCP server asks people to fill in a form, and to open a link.',
    [mcpCall('register', {}), mcpCall('sign_in', {})],
    {
      permit: (request) => {
        const isLink = Object(request.params).mode === 'url';
        const content = isLink ? null : { name: 'Ada', news: true };
        return answered({ action: 'accept', content, _meta: null }, false)(request, undefined!);
      },
    },
  ),
  mcp(
    'mcp-elicitation-rejected',
    'An MCP server asks people, who do not answer.',
    [mcpCall('register', {}), mcpCall('sign_in', {})],
    { permit: answered({ action: 'decline', content: null, _meta: null }, false) },
  ),
];

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
  ...patchCases,
  ...mcpCases,
  once(
    'view-image',
    'The model looks at an image, and at one that is not there.',
    ({ projectDir }) => [
      answer(viewImage(`${projectDir}/pixel.png`)),
      answer(viewImage(`${projectDir}/nothing.png`)),
      answer('A pixel.'),
    ],
    { files: { 'pixel.png': Buffer.from(pixel, 'base64') } },
  ),
  once('web-search', 'The model’s own service searches the web, and opens a page.', () => [
    answer([
      webSearch({ type: 'search', query: 'cats' }, [pause(50)]),
      webSearch({ type: 'open_page', url: 'https://example.org/cats' }),
      webSearch({ type: 'find_in_page', url: 'https://example.org/cats', pattern: 'tabby' }),
      message('Found.'),
    ]),
  ]),
  once('tool-unknown', 'The model calls a tool that does not exist.', () => [
    answer(functionCall('teleport', { to: 'the moon' })),
    answer('I cannot.'),
  ]),
  asking('question', 'In plan mode the model asks questions.'),
  asking('question-unanswered', 'A question is answered with nothing.', {
    permit: () => Promise.resolve({ answers: {} }),
  }),
  asking('question-cancel-turn', 'The turn is stopped while a question is open.', {
    permit: () => Promise.resolve(undefined),
    run: async (client) => {
      const thread = await client.newSession();
      const turn = await client.begin(thread, 'Ask me.', planMode);
      await client.until(hasMethod('item/tool/requestUserInput'));
      await client.interrupt(thread, turn);
      await client.until(hasMethod('serverRequest/resolved'));
      await client.prompt(thread, 'And now?');
    },
  }),
  asking('plan-mode', 'In plan mode the model proposes a plan amid its text.', {
    script: () => [
      answer(
        message(
          'Before it.\n<proposed_plan>\n# The plan\n- Read\n- Write\n</proposed_plan>\nAfter it.',
          { chunk: 15 },
        ),
      ),
    ],
  }),
];
