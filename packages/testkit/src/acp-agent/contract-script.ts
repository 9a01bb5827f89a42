/** A scripted agent that shows the features that every agent has, each for one prompt. */
import type { AgentScript, Step } from './script.ts';

/**
 * The prompts that `contractScript` answers: the prompts of the provider's contract suite, and further prompts with
 * visible results.
 */
export const contractPrompts = {
  text: 'Say something.',
  tool: 'Use a tool.',
  approval: 'Ask me first.',
  slow: 'Go on for ever.',
  error: 'Fail.',
  thought: 'Think aloud.',
  plan: 'Make a plan.',
  edit: 'Edit a file.',
  long: 'Say much.',
};

const command = { toolCallId: 'call-1', title: 'echo used', kind: 'execute' };

const usesTool: Step[] = [
  {
    update: {
      sessionUpdate: 'tool_call',
      ...command,
      status: 'in_progress',
      rawInput: { command: 'echo used' },
    },
  },
  {
    update: {
      sessionUpdate: 'tool_call_update',
      toolCallId: command.toolCallId,
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'used\n' } }],
      rawOutput: { exit_code: 0, output: 'used\n' },
    },
  },
  { say: 'The tool said “used”.' },
];

const asks: Step[] = [
  {
    update: {
      sessionUpdate: 'tool_call',
      toolCallId: 'call-2',
      title: 'Write new.txt',
      kind: 'edit',
      status: 'pending',
      locations: [{ path: '{{cwd}}/new.txt' }],
      rawInput: { path: '{{cwd}}/new.txt', content: 'new\n' },
    },
  },
  {
    request: {
      method: 'session/request_permission',
      params: {
        toolCall: { toolCallId: 'call-2', title: 'Write new.txt', kind: 'edit' },
        options: [
          { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
          { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
          { optionId: 'no', name: 'Reject', kind: 'reject_once' },
        ],
      },
      onAnswer: [
        { when: '"no"', steps: [ended('call-2', 'failed'), { say: 'Then I leave it.' }] },
        { when: 'selected', steps: [ended('call-2', 'completed'), { say: 'It is written.' }] },
        { steps: [ended('call-2', 'failed')] },
      ],
    },
  },
];

const plans: Step[] = [
  plan('in_progress', 'pending'),
  { say: 'First one thing, ' },
  plan('completed', 'in_progress'),
  { say: 'then the other.' },
  plan('completed', 'completed'),
];

const edits: Step[] = [
  {
    update: {
      sessionUpdate: 'tool_call',
      toolCallId: 'call-3',
      title: 'Edit greeting.txt',
      kind: 'edit',
      status: 'completed',
      locations: [{ path: '{{cwd}}/greeting.txt', line: 1 }],
      content: [
        {
          type: 'diff',
          path: '{{cwd}}/greeting.txt',
          oldText: 'Hello\n',
          newText: 'Hello, world\n',
        },
      ],
    },
  },
  { say: 'The greeting is warmer now.' },
];

/** The script, which answers each of `contractPrompts`. */
export const contractScript: AgentScript = {
  session: {
    modes: {
      currentModeId: 'ask',
      availableModes: [
        { id: 'ask', name: 'Ask' },
        { id: 'code', name: 'Code' },
      ],
    },
    configOptions: [
      {
        type: 'select',
        id: 'model',
        name: 'Model',
        category: 'model',
        currentValue: 'small',
        options: [
          { value: 'small', name: 'Small' },
          { value: 'large', name: 'Large' },
        ],
      },
    ],
  },
  on: {
    'session/new': [
      { answer: true },
      {
        update: {
          sessionUpdate: 'available_commands_update',
          availableCommands: [{ name: 'review', description: 'Look at what has changed.' }],
        },
      },
    ],
  },
  turns: [
    { when: contractPrompts.text, steps: [{ say: 'Some' }, { say: 'thing.' }] },
    { when: contractPrompts.tool, steps: usesTool },
    { when: contractPrompts.approval, steps: asks },
    { when: contractPrompts.slow, steps: [{ say: 'For ever ' }, { hang: true }] },
    {
      when: contractPrompts.error,
      steps: [{ error: { code: -32603, message: 'Internal error', data: 'The model is away.' } }],
    },
    { when: contractPrompts.thought, steps: [{ think: 'Let me see. ' }, { say: 'I see.' }] },
    { when: contractPrompts.plan, steps: plans },
    { when: contractPrompts.edit, steps: edits },
    {
      when: contractPrompts.long,
      steps: [{ repeat: { times: 400, steps: [{ say: 'All work and no play, {{i}}. ' }] } }],
    },
  ],
};

function ended(toolCallId: string, status: string): Step {
  return { update: { sessionUpdate: 'tool_call_update', toolCallId, status } };
}

function plan(...statuses: string[]): Step {
  const entries = statuses.map((status, at) => ({
    content: `Thing ${at + 1}`,
    priority: 'medium',
    status,
  }));
  return { update: { sessionUpdate: 'plan', entries } };
}
