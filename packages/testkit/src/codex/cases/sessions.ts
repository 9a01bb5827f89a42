import { answer, message, reasoning } from '../../responses-api/reply.ts';
import { byModelPrompt } from '../../responses-api/script.ts';
import { pause } from '../../scripted-server/happening.ts';
import { isUpdate, type RecordedCase, type RecordingClient } from '../record.ts';
import { applyPatch, execCommand, updatePlan } from '../tools.ts';
import { terminalOutput } from './commands.ts';

/** A session in which everything has happened that is worth coming back to. */
const eventful: RecordedCase['script'] = () => [
  answer([
    reasoning(['**First** I look.', '**Then** I change.']),
    message('Looking.'),
    execCommand('cat notes.txt'),
    execCommand('echo broken; exit 3'),
  ]),
  answer(updatePlan([['Change the notes', 'in_progress']])),
  answer(applyPatch(['*** Update File: notes.txt', '@@', '-one', '+eins'])),
  answer(message([pause(200), 'Changed.'])),
  answer([message('A second answer.'), message('In two messages.')]),
  answer('A third answer, after the load.'),
];

const live = async (client: RecordingClient): Promise<string> => {
  const session = await client.newSession();
  await client.prompt(session, 'The first question.');
  await client.prompt(session, 'The second question.');
  return session;
};

const returned = async (
  client: RecordingClient,
  method: string,
  sessionId: string,
): Promise<void> => {
  await client.kill();
  await client.start();
  await client.request(method, { sessionId, cwd: client.workspace.projectDir, mcpServers: [] });
  await client.until(isUpdate('available_commands_update'));
  await client.prompt(sessionId, 'The third question.');
};

const files = { 'notes.txt': 'one\n' };

export const sessionCases: RecordedCase[] = [
  {
    name: 'load',
    about: 'An old session is loaded by a new process, which repeats it first.',
    files,
    script: eventful,
    run: async (client) => returned(client, 'session/load', await live(client)),
  },
  {
    name: 'load-terminal',
    about: 'An old session is loaded for a client that shows terminals.',
    files,
    capabilities: terminalOutput,
    script: eventful,
    run: async (client) => returned(client, 'session/load', await live(client)),
  },
  {
    name: 'resume',
    about: 'An old session is resumed by a new process: nothing is repeated.',
    files,
    script: eventful,
    run: async (client) => returned(client, 'session/resume', await live(client)),
  },
  {
    name: 'load-cancelled',
    about: 'A session is loaded whose turns were cancelled and killed in the middle.',
    script: (_workspace, gate) =>
      byModelPrompt({
        cancelled: [answer(message(['Half of it', gate, ' and the rest']))],
        killed: [answer(message(['Another half', gate, ' and the rest']))],
        third: [answer('A whole answer.')],
      }),
    run: async (client) => {
      const session = await client.newSession();
      const ended = client.prompt(session, 'To be cancelled.');
      await client.until(isUpdate('agent_message_chunk'));
      client.notify('session/cancel', { sessionId: session });
      await ended;
      void client.prompt(session, 'To be killed.');
      await client.until(isUpdate('agent_message_chunk'));
      await returned(client, 'session/load', session);
    },
  },
  {
    name: 'load-unknown',
    about: 'Sessions that cannot be loaded: one that never was, and one that was never prompted.',
    script: () => [],
    run: async (client) => {
      const load = (sessionId: string) =>
        client.request('session/load', {
          sessionId,
          cwd: client.workspace.projectDir,
          mcpServers: [],
        });
      await load('11111111-2222-4333-8444-555555555555');
      await load('no such id');
      await load(await client.newSession());
      await client.request('session/prompt', {
        sessionId: '11111111-2222-4333-8444-555555555555',
        prompt: [{ type: 'text', text: 'Anybody?' }],
      });
    },
  },
  {
    name: 'list-and-close',
    about: 'Sessions are listed, of all folders and of one; one is closed and prompted again.',
    script: () => [answer('One.'), answer('Two.'), answer('Three.')],
    run: async (client) => {
      const first = await client.newSession();
      await client.prompt(first, 'The first session.');
      await client.prompt(await client.newSession(), 'The second session.');
      await client.request('session/list', {});
      await client.request('session/list', { cwd: client.workspace.projectDir });
      await client.request('session/list', { cwd: '/nowhere' });
      await client.request('session/close', { sessionId: first });
      await client.prompt(first, 'Still there?');
    },
  },
  {
    name: 'settings',
    about:
      'Modes, models and options are set, well and badly; the model is asked under the new ones.',
    codex: { approvalPolicy: 'on-request' },
    script: () => [answer('Under new rules.')],
    run: async (client) => {
      const sessionId = await client.newSession();
      await client.request('session/set_mode', { sessionId, modeId: 'read-only' });
      await client.request('session/set_mode', { sessionId, modeId: 'full-access' });
      await client.request('session/set_mode', { sessionId, modeId: 'nonsense' });
      const option = (configId: string, value: string) =>
        client.request('session/set_config_option', { sessionId, configId, value });
      await option('reasoning_effort', 'high');
      await option('model', 'scripted-mini');
      await option('reasoning_effort', 'high');
      await option('mode', 'auto');
      await option('mode', 'full-access');
      await option('nonsense', 'x');
      await client.request('session/set_model', { sessionId, modelId: 'scripted/low' });
      await client.prompt(sessionId, 'Which are you?');
    },
  },
  {
    name: 'sessions-together',
    about: 'Two sessions of one process are answered at the same time.',
    script: (_workspace, gate) =>
      byModelPrompt({
        first: [answer(message(['One begins', gate, ' and ends.']))],
        second: [answer(message('Two, all of it.', { chunk: 5 }))],
      }),
    run: async (client) => {
      const first = await client.newSession();
      const second = await client.newSession();
      const ended = client.prompt(first, 'The first question.');
      await client.until(isUpdate('agent_message_chunk'));
      await client.prompt(second, 'The second question.');
      client.gate.open();
      await ended;
    },
  },
  {
    name: 'prompts-together',
    about: 'A second prompt is sent to a session while the first is answered.',
    script: (_workspace, gate) =>
      byModelPrompt({
        first: [answer(message(['One begins', gate, ' and ends.']))],
        second: [answer('Two.')],
      }),
    run: async (client) => {
      const session = await client.newSession();
      const first = client.prompt(session, 'The first question.');
      await client.until(isUpdate('agent_message_chunk'));
      const second = client.prompt(session, 'The second question.');
      client.gate.open();
      await Promise.race([Promise.all([first, second]), client.silence()]);
    },
  },
  {
    name: 'compact',
    about: 'The conversation is compacted by a command.',
    script: () => [answer('A first answer.'), answer('A summary of it all.'), answer('Going on.')],
    run: async (client) => {
      const session = await client.newSession();
      await client.prompt(session, 'A first question.');
      await client.prompt(session, '/compact');
      await client.prompt(session, 'And on.');
    },
  },
  {
    name: 'prompt-blocks',
    about: 'A prompt of everything that a prompt may hold.',
    script: () => [answer('Seen.')],
    run: async (client) => {
      const sessionId = await client.newSession();
      await client.request('session/prompt', {
        sessionId,
        prompt: [
          { type: 'text', text: 'Look at these.' },
          { type: 'resource_link', name: 'notes.txt', uri: 'file:///project/notes.txt' },
          { type: 'resource', resource: { uri: 'file:///project/a.txt', text: 'aaa' } },
          { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
        ],
      });
      await client.kill();
      await client.start();
      await client.request('session/load', {
        sessionId,
        cwd: client.workspace.projectDir,
        mcpServers: [],
      });
    },
  },
  {
    name: 'killed',
    about: 'The process is killed in the middle of a text.',
    script: (_workspace, gate) => [answer(message(['Half of it', gate, ' and the rest']))],
    run: async (client) => {
      void client.prompt(await client.newSession(), 'Say it.');
      await client.until(isUpdate('agent_message_chunk'));
      await client.kill();
    },
  },
];
