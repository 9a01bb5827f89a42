import { answer, functionCall, message, type ModelReply } from '../../responses-api/reply.ts';
import type { ResponsesRequest } from '../../responses-api/request.ts';
import { pause } from '../../scripted-server/stream-incident.ts';
import { startsItem, hasMethod, type RecordedCase, type RecordingClient } from '../record.ts';
import { execCommand } from '../tools.ts';
import { pixel } from '../../pixel.ts';

const steer = (client: RecordingClient, threadId: string, turnId: string): Promise<unknown> =>
  client.request('turn/steer', {
    threadId,
    expectedTurnId: turnId,
    clientUserMessageId: 'a-word-amid',
    input: [{ type: 'text', text: 'This, too.', text_elements: [] }],
  });

/** Makes a case in which a message is steered into a turn when a line `matches`. */
const steered = (
  name: string,
  about: string,
  script: RecordedCase['script'],
  matches: Parameters<RecordingClient['until']>[0],
): RecordedCase => ({
  name,
  about,
  script,
  run: async (client) => {
    const thread = await client.newSession();
    const turn = await client.begin(thread, 'Do it.');
    await client.until(matches);
    await steer(client, thread, turn);
    await client.ended(turn);
    await client.history(thread);
  },
});

const turnsEnd = async (client: RecordingClient): Promise<void> => {
  await client.until(hasMethod('turn/completed'));
};

const agents = { namespace: 'multi_agent_v1' };

/** Delays an answer, because threads that run at the same time would otherwise write in a random order. */
const later = (ms: number) => ({ ...agents, before: [pause(ms)] });

/** Makes a script that starts one agent and waits for it. `task` answers for that agent. */
const sentOut =
  (task: (request: ResponsesRequest) => ModelReply): RecordedCase['script'] =>
  () => {
    let agent: string | undefined;
    return (request) => {
      const results = Object.values(request.toolResults).join('\n');
      if (request.prompt.includes('A task')) return task(request);
      const isNew = agent === undefined;
      agent ??= /"agent_id":"([^"]+)"/.exec(results)?.[1];
      if (agent === undefined)
        return answer(functionCall('spawn_agent', { message: 'A task for you.' }, agents));
      if (isNew) return answer(functionCall('wait_agent', { targets: [agent] }, later(600)));
      if (results.includes('timed_out'))
        return answer(functionCall('close_agent', { target: agent }, agents));
      return answer('All is done.');
    };
  };

const reviewed = JSON.stringify({
  findings: [
    {
      title: '[P1] It is wrong',
      body: 'One is not eins.',
      confidence_score: 0.9,
      priority: 1,
      code_location: {
        absolute_file_path: '/project/notes.txt',
        line_range: { start: 1, end: 1 },
      },
    },
  ],
  overall_correctness: 'patch is incorrect',
  overall_explanation: 'It does not hold.',
  overall_confidence_score: 0.8,
});

/** Cases with turns that are more than a question and its answer. */
export const threadTurnCases: RecordedCase[] = [
  steered(
    'steer-text',
    'People say more while a text is streamed: the text is broken off, and answered anew.',
    (_workspace, gate) => [
      answer(message(['Half of it', gate, ' and the rest'])),
      answer('That, too.'),
    ],
    hasMethod('item/agentMessage/delta'),
  ),
  steered(
    'steer-command',
    'People say more while a command runs: the model hears it when that has ended.',
    () => [answer(execCommand('sleep 0.6; echo done', { yieldMs: 5000 })), answer('That, too.')],
    startsItem('commandExecution'),
  ),
  {
    name: 'compact',
    about: 'The conversation is compacted because people want it.',
    script: () => [answer('A first answer.'), answer('A summary of it all.'), answer('Going on.')],
    run: async (client) => {
      const thread = await client.newSession();
      await client.prompt(thread, 'A first question.');
      await turnsEnd(client);
      await client.request('thread/compact/start', { threadId: thread });
      await turnsEnd(client);
      await client.prompt(thread, 'And on.');
      await client.history(thread);
    },
  },
  {
    name: 'compact-automatic',
    about: 'The conversation fills the context, and is compacted when the next turn begins.',
    script: () => [
      answer('A long answer.', { usage: { input: 94_000, output: 500 } }),
      answer('A summary of it all.'),
      answer('Going on.'),
    ],
    run: async (client) => {
      const thread = await client.newSession();
      await client.prompt(thread, 'A long question.');
      await client.prompt(thread, 'And on.');
    },
  },
  {
    name: 'compact-within',
    about: 'The conversation fills the context amid a turn, and is compacted there.',
    script: () => [
      answer([message('A command first.'), execCommand('echo hi')], {
        usage: { input: 94_000, output: 500 },
      }),
      answer('A summary of it all.'),
      answer('Going on.'),
    ],
    run: async (client) => {
      await client.prompt(await client.newSession(), 'A long question.');
    },
  },
  {
    name: 'review',
    about: 'A review is asked for, which is a turn of its own kind.',
    files: { 'notes.txt': 'eins\n' },
    script: () => [answer(execCommand('cat notes.txt')), answer(message(reviewed, { chunk: 80 }))],
    run: async (client) => {
      const thread = await client.newSession();
      const target = { type: 'custom', instructions: 'Look at notes.txt.' };
      await client.request('review/start', { threadId: thread, target });
      await turnsEnd(client);
      await client.history(thread);
    },
  },
  {
    name: 'goal',
    about: 'A thread with a goal goes on by itself until the goal is reached.',
    script: () => [
      answer('Hello.'),
      answer('I have begun.'),
      answer(functionCall('update_goal', { status: 'complete' })),
      answer('It is reached.'),
    ],
    run: async (client) => {
      const thread = await client.newSession();
      await client.prompt(thread, 'Hello?');
      await turnsEnd(client);
      await client.request('thread/goal/set', { threadId: thread, objective: 'Count to ten.' });
      await turnsEnd(client);
      await turnsEnd(client);
      await client.history(thread);
    },
  },
  {
    name: 'subagent',
    about: 'The model sends out an agent, waits for it, and ends it.',
    script: sentOut(() => answer(message([pause(1200), 'The task is done.']))),
    run: async (client) => {
      const thread = await client.newSession();
      await client.prompt(thread, 'Send somebody.');
      await client.history(thread);
    },
  },
  {
    name: 'load-subagent',
    about: 'A new process is asked for a thread that had sent out an agent, and for that one’s.',
    script: sentOut(() => answer(message([pause(1200), 'The task is done.']))),
    run: async (client) => {
      const thread = await client.newSession();
      await client.prompt(thread, 'Send somebody.');
      await client.kill();
      await client.start();
      await client.history(thread);
      const { result } = await client.request('thread/list', {
        ancestorThreadId: thread,
        modelProviders: [],
      });
      for (const { id } of Object(result).data as { id: string }[]) await client.history(id);
    },
  },
  {
    name: 'subagent-asks',
    about: 'An agent that was sent out runs a command, for which a permission is needed.',
    codex: { approvalPolicy: 'on-request', sandbox: 'read-only' },
    script: sentOut(({ toolResults }) =>
      Object.keys(toolResults).length === 0
        ? answer(
            execCommand('sleep 0.3; echo hi', { escalate: 'To say hi.', before: [pause(1200)] }),
          )
        : answer('The task is done.'),
    ),
    run: async (client) => {
      await client.prompt(await client.newSession(), 'Send somebody.');
    },
  },
  {
    name: 'prompt-blocks',
    about: 'A prompt of everything that a prompt may hold.',
    files: { 'notes.txt': 'one\n', 'pixel.png': Buffer.from(pixel, 'base64') },
    script: () => [answer('Seen.')],
    run: async (client) => {
      const thread = await client.newSession();
      const { projectDir } = client.workspace;
      await client.prompt(thread, '', {
        input: [
          { type: 'text', text: 'Look at these.', text_elements: [] },
          { type: 'mention', name: 'notes.txt', path: `${projectDir}/notes.txt` },
          { type: 'image', url: `data:image/png;base64,${pixel}` },
          { type: 'localImage', path: `${projectDir}/pixel.png` },
        ],
      });
      await client.reopen(thread);
      await client.history(thread);
    },
  },
];
