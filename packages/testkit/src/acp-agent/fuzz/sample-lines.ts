/** Valid messages of an agent: every kind of `session/update`, every request, and some notifications and answers. */

type Body = Record<string, unknown>;

const text = (value: string): Body => ({ type: 'text', text: value });
// A transparent pixel and a silent sound, both in base64.
const image = {
  type: 'image',
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
};
const audio = { type: 'audio', mimeType: 'audio/wav', data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEA' };
const link = { type: 'resource_link', uri: 'file:///a/notes.md', name: 'notes.md', size: 12 };
const textResource = {
  type: 'resource',
  resource: { uri: 'file:///a/notes.md', mimeType: 'text/markdown', text: '# Notes' },
};
const blobResource = { type: 'resource', resource: { uri: 'file:///a/b.bin', blob: 'AAEC' } };

const chunks: Body[] = [
  { sessionUpdate: 'user_message_chunk', content: text('And now?') },
  { sessionUpdate: 'agent_thought_chunk', content: text('Let me see. '), messageId: 'thought-1' },
  ...[text('Well, '), text('well.'), image, audio, link, textResource, blobResource].map(
    (content) => ({ sessionUpdate: 'agent_message_chunk', content }),
  ),
  { sessionUpdate: 'agent_message_chunk', content: text('Another.'), messageId: 'message-2' },
];

const tools: Body[] = [
  {
    sessionUpdate: 'tool_call',
    toolCallId: 'call-1',
    title: 'List files',
    name: 'shell',
    kind: 'execute',
    status: 'pending',
    rawInput: { command: ['ls'] },
    locations: [{ path: '/a/notes.md', line: 3 }],
  },
  { sessionUpdate: 'tool_call_update', toolCallId: 'call-1', status: 'in_progress' },
  {
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call-1',
    status: 'completed',
    content: [
      { type: 'content', content: text('notes.md\n') },
      { type: 'diff', path: '/a/notes.md', oldText: null, newText: '# Notes\n' },
      { type: 'terminal', terminalId: 'terminal-1' },
    ],
    rawOutput: { exit_code: 0, output: 'notes.md\n' },
  },
  { sessionUpdate: 'tool_call_update', toolCallId: 'never-announced', status: 'failed' },
  { sessionUpdate: 'tool_call', toolCallId: 'call-2', title: 'Read', kind: 'read' },
];

const others: Body[] = [
  {
    sessionUpdate: 'plan',
    entries: [
      { content: 'Look', priority: 'high', status: 'completed' },
      { content: 'Leap', priority: 'low', status: 'pending' },
    ],
  },
  {
    sessionUpdate: 'available_commands_update',
    availableCommands: [{ name: 'review', description: 'Look again.', input: { hint: 'what' } }],
  },
  { sessionUpdate: 'current_mode_update', currentModeId: 'code' },
  {
    sessionUpdate: 'config_option_update',
    configOptions: [
      {
        type: 'select',
        id: 'model',
        name: 'Model',
        category: 'model',
        currentValue: 'small',
        options: [{ value: 'small', name: 'Small' }],
      },
      { type: 'boolean', id: 'web', name: 'Web', currentValue: true },
    ],
  },
  { sessionUpdate: 'session_info_update', title: 'Notes', updatedAt: '2025-01-01T00:00:00Z' },
  { sessionUpdate: 'usage_update', used: 100, size: 1000, cost: { amount: 0.01, currency: 'USD' } },
  { sessionUpdate: 'notice', severity: 'warning', title: 'Slow', description: 'It takes long.' },
  { sessionUpdate: 'compaction_update', compactionId: 'compaction-1', status: 'in_progress' },
  {
    sessionUpdate: 'compaction_summary_chunk',
    compactionId: 'compaction-1',
    content: text('So far.'),
  },
  {
    sessionUpdate: 'compaction_update',
    compactionId: 'compaction-1',
    status: 'completed',
    summary: [text('So far.')],
  },
];

/** Every variant of `session/update` in the stable protocol; some variants occur several times. */
export const sampleUpdates: readonly Body[] = [...chunks, ...tools, ...others];

const requests: readonly [string, Body][] = [
  [
    'session/request_permission',
    {
      toolCall: { toolCallId: 'call-2', title: 'Read', kind: 'read' },
      options: [
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    },
  ],
  ['fs/read_text_file', { path: '/a/notes.md', line: 1, limit: 2 }],
  ['fs/write_text_file', { path: '/a/notes.md', content: '# Notes\n' }],
  ['terminal/create', { command: 'true', args: [], env: [{ name: 'A', value: 'b' }] }],
  ['terminal/output', { terminalId: 'terminal-1' }],
  ['terminal/wait_for_exit', { terminalId: 'terminal-1' }],
  ['terminal/kill', { terminalId: 'terminal-1' }],
  ['terminal/release', { terminalId: 'terminal-1' }],
  [
    'elicitation/create',
    {
      mode: 'form',
      message: 'Which one?',
      requestedSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Name', maxLength: 20 },
          count: { type: 'integer', minimum: 1 },
          sure: { type: 'boolean', default: true },
          many: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
        },
        required: ['name'],
      },
    },
  ],
  [
    'elicitation/create',
    { mode: 'url', elicitationId: 'e-1', url: 'https://example.com', message: 'Sign in.' },
  ],
  ['_vendor/ask', { anything: true }],
];

const notifications: readonly [string, Body][] = [
  ['elicitation/complete', { elicitationId: 'e-1' }],
  ['$/cancel_request', { requestId: 1000 }],
  ['_vendor/tell', { anything: true }],
];

/** Returns all sample messages as lines for the session. The ids of requests count from 5000. */
export function sampleLines(sessionId: unknown): string[] {
  const messages = [
    ...sampleUpdates.map((update) => ({ method: 'session/update', params: { sessionId, update } })),
    ...requests.map(([method, params], at) => ({
      id: 5000 + at,
      method,
      params: { sessionId, ...params },
    })),
    ...notifications.map(([method, params]) => ({ method, params })),
    { id: 9000, result: { stopReason: 'end_turn' } },
    { id: 9001, error: { code: -32603, message: 'Internal error' } },
  ];
  return messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }));
}
