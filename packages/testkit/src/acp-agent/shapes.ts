/**
 * Behaviours of real agents that clients easily handle wrongly. Each entry is a scripted agent that shows one behaviour
 * for any prompt. The behaviours were seen in opencode, Gemini CLI, Qwen Code, GitHub Copilot, Cline, pi and
 * claude-agent-acp.
 */
import type { AgentScript, Step } from './script.ts';

type Branch = { when?: string; steps: Step[] };

const onAnyPrompt = (...steps: Step[]): AgentScript => ({ turns: [{ steps }] });

const options = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
];

const asks = (toolCall: Record<string, unknown>, onAnswer: Branch[] = []): Step => ({
  request: { method: 'session/request_permission', params: { toolCall, options }, onAnswer },
});

const select = (
  id: string,
  name: string,
  category: string,
  values: string[],
): Record<string, unknown> => ({
  type: 'select',
  id,
  name,
  category,
  currentValue: values[0],
  options: values.map((value) => ({ value, name: value })),
});

const refused = {
  sessionUpdate: 'tool_call',
  toolCallId: 'run-1',
  title: 'Run rm a.txt',
  kind: 'execute',
  status: 'pending',
  rawInput: { command: 'rm a.txt' },
};

export const shapes = {
  /** Gemini CLI ends a loop with a stop reason that ACP does not have. */
  stepLimit: onAnyPrompt({ say: 'Once more.' }, { stop: { stopReason: 'max_turn_requests' } }),

  /** Gemini CLI creates a file only after an error with certain words has reported that the file is missing. */
  newFile: onAnyPrompt({
    request: {
      method: 'fs/read_text_file',
      params: { path: '{{cwd}}/made.txt' },
      onAnswer: [
        {
          when: 'No such file',
          steps: [
            {
              request: {
                method: 'fs/write_text_file',
                params: { path: '{{cwd}}/made.txt', content: 'made\n' },
              },
            },
            { say: 'It is made.' },
          ],
        },
        { steps: [{ say: 'It cannot be read.' }] },
      ],
    },
  }),

  /**
   * In opencode, the permission request for a call repeats the call with other text and input, and only the request
   * contains the diff.
   */
  requestRepeatsCall: onAnyPrompt(
    {
      update: {
        sessionUpdate: 'tool_call',
        toolCallId: 'call_1',
        title: 'Write made.txt',
        kind: 'edit',
        status: 'in_progress',
        rawInput: { filePath: '{{cwd}}/made.txt', content: 'made\n' },
      },
    },
    asks({
      toolCallId: 'call_1',
      title: 'edit',
      kind: 'other',
      rawInput: { filepath: '{{cwd}}/made.txt', diff: '+made' },
      content: [{ type: 'diff', path: '{{cwd}}/made.txt', oldText: null, newText: 'made\n' }],
    }),
    { update: { sessionUpdate: 'tool_call_update', toolCallId: 'call_1', status: 'completed' } },
    { say: 'Written.' },
  ),

  /** Qwen Code sends data for its own page in addition to an edit's diff. */
  editWithJson: onAnyPrompt({
    update: {
      sessionUpdate: 'tool_call',
      toolCallId: 'edit-1',
      title: 'Edit a.txt',
      kind: 'edit',
      status: 'completed',
      content: [{ type: 'diff', path: '{{cwd}}/a.txt', oldText: 'a\n', newText: 'b\n' }],
      rawOutput: { fileDiff: '-a\n+b\n', fileName: 'a.txt', originalContent: 'a\n' },
    },
  }),

  /** GitHub Copilot sends the content of a file that it has read as a string in `content`. */
  contentAsString: onAnyPrompt({
    update: {
      sessionUpdate: 'tool_call',
      toolCallId: 'view-1',
      title: 'Viewing a.txt',
      kind: 'read',
      status: 'completed',
      rawOutput: { content: '1. first line', detailedContent: 'diff --git a b' },
    },
  }),

  /** Most agents send text directly after a tool's end. */
  textAroundEnd: onAnyPrompt(
    {
      update: {
        sessionUpdate: 'tool_call',
        toolCallId: 'w1',
        title: 'Write made.txt',
        kind: 'edit',
        status: 'pending',
      },
    },
    { say: 'I write ' },
    { say: 'made.txt' },
    { update: { sessionUpdate: 'tool_call_update', toolCallId: 'w1', status: 'completed' } },
    { say: 'Written.' },
  ),

  /** Cline announces a rejected call again, with the same id. */
  refusedAgain: onAnyPrompt(
    { update: refused },
    asks({ toolCallId: 'run-1' }),
    { update: { sessionUpdate: 'tool_call_update', toolCallId: 'run-1', status: 'failed' } },
    { update: refused },
    { say: 'Then I leave it.' },
  ),

  /** In Cline, the first option of the category `model` is the provider, not the model. */
  providerFirst: {
    session: {
      configOptions: [
        select('provider', 'Provider', 'model', ['anthropic', 'openai']),
        select('model', 'Model', 'model', ['big', 'small']),
      ],
    },
  },

  /** pi sends the modes twice: as modes and as a config option. */
  modesTwice: {
    session: {
      modes: {
        currentModeId: 'low',
        availableModes: [
          { id: 'low', name: 'Low' },
          { id: 'high', name: 'High' },
        ],
      },
      configOptions: [select('thinking', 'Thinking', 'thought_level', ['low', 'high'])],
    },
  },

  /** In claude-agent-acp, a subagent's calls contain the id of the call that started the subagent. */
  subagent: onAnyPrompt(
    { update: { sessionUpdate: 'tool_call', toolCallId: 'task', title: 'Task', kind: 'think' } },
    {
      update: {
        sessionUpdate: 'tool_call',
        toolCallId: 'inner',
        title: 'Find a.txt',
        kind: 'search',
        status: 'completed',
        _meta: { claudeCode: { toolName: 'Glob', parentToolUseId: 'task' } },
      },
    },
    { update: { sessionUpdate: 'tool_call_update', toolCallId: 'task', status: 'completed' } },
  ),

  /** In Qwen Code, only the text of the request contains the plan that the user is asked to accept. */
  planToAgreeTo: onAnyPrompt(
    asks({
      toolCallId: 'plan-1',
      title: 'Would you like to proceed?',
      kind: 'switch_mode',
      content: [{ type: 'content', content: { type: 'text', text: '1. Look\n2. Change it' } }],
    }),
    { say: 'So be it.' },
  ),
} satisfies Record<string, AgentScript>;
