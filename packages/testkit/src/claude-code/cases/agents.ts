import { join } from 'node:path';
import { reply, text, thinking, toolUse } from '../../messages-api/reply.ts';
import { withSubagents } from '../../messages-api/script.ts';
import type { RecordedCase } from '../record.ts';

const inspect = {
  description: 'Inspect the notes',
  prompt: 'Inspect notes.txt',
  subagent_type: 'general-purpose',
};

export const agentCases: RecordedCase[] = [
  {
    name: 'subagent',
    about: 'A subagent thinks, reads a file and reports.',
    files: { 'notes.txt': 'one\ntwo\n' },
    script: ({ projectDir }) =>
      withSubagents(
        [
          reply([text('Delegating.'), toolUse('Agent', { ...inspect, run_in_background: false })]),
          reply('The agent says two lines.'),
        ],
        {
          'Inspect notes.txt': [
            reply([
              thinking('I should read it.'),
              text('Looking.'),
              toolUse('Read', { file_path: join(projectDir, 'notes.txt') }),
            ]),
            reply('Two lines.'),
          ],
        },
      ),
    run: async (host) => {
      host.send('Delegate it.');
      await host.result();
    },
  },
  {
    name: 'subagents-parallel',
    about: 'Two subagents at once, each with a tool.',
    script: () =>
      withSubagents(
        [
          reply([
            toolUse('Agent', { ...inspect, prompt: 'First errand', run_in_background: false }),
            toolUse('Agent', { ...inspect, prompt: 'Second errand', run_in_background: false }),
          ]),
          reply('Both are back.'),
        ],
        {
          'First errand': [reply(toolUse('Bash', { command: 'echo first' })), reply('First done.')],
          'Second errand': [
            reply(toolUse('Bash', { command: 'sleep 0.3; echo second' })),
            reply('Second done.'),
          ],
        },
      ),
    run: async (host) => {
      host.send('Delegate twice.');
      await host.result();
    },
  },
  {
    name: 'background-command',
    about:
      'A command in the background finishes after its turn and starts one that nobody asked for.',
    script: () => [
      reply(toolUse('Bash', { command: 'sleep 1; echo finished', run_in_background: true })),
      reply('It runs in the background.'),
      reply('It has finished.'),
    ],
    run: async (host) => {
      host.send('Start it.');
      await host.result();
      await host.result();
    },
  },
  {
    name: 'background-agent',
    about: 'A subagent in the background reports after its turn.',
    script: (_, gate) =>
      withSubagents(
        [
          reply(toolUse('Agent', { ...inspect, prompt: 'Slow errand', run_in_background: true })),
          reply('It is on its way.'),
          reply('It came back.'),
        ],
        { 'Slow errand': [reply(text(['Slow ', gate, 'result.']))] },
      ),
    run: async (host) => {
      host.send('Send it off.');
      await host.result();
      host.gate.open();
      await host.result();
    },
  },
];
