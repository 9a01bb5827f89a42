import type { Scene } from '../script.ts';

export const ask: Scene = {
  name: 'ask',
  description: 'Asks you to fill in a form before it continues',
  words: ['ask', 'question', 'release'],
  steps: [
    {
      do: 'say',
      text: 'Demo, recorded: the changes since 2.3.1 are a feature and two repairs, so the next version is 2.4.0. Only you can decide a few details of the release.\n',
    },
    {
      do: 'ask',
      title: 'How should this be released?',
      form: {
        description:
          'Nothing is published by this demo, whatever you answer. The rules for versions are at https://semver.org.',
        properties: {
          version: {
            type: 'string',
            title: 'Version',
            description: 'Three numbers, as in 2.4.0.',
            pattern: '^\\d+\\.\\d+\\.\\d+$',
            default: '2.4.0',
          },
          channel: {
            type: 'string',
            title: 'Channel',
            oneOf: [
              { const: 'latest', title: 'Latest', description: 'Everybody who updates gets it.' },
              { const: 'next', title: 'Next', description: 'Only people who choose it get it.' },
            ],
            default: 'latest',
          },
          targets: {
            type: 'array',
            title: 'Build for',
            items: {
              anyOf: [
                { const: 'linux', title: 'Linux' },
                { const: 'macos', title: 'macOS' },
                { const: 'windows', title: 'Windows' },
              ],
            },
            minItems: 1,
            default: ['linux', 'macos'],
          },
          announce: {
            type: 'string',
            title: 'Announce it to',
            description: 'Who gets the notes.',
            format: 'email',
          },
          wait: {
            type: 'integer',
            title: 'Hours until it reaches everybody',
            minimum: 0,
            maximum: 72,
            default: 24,
          },
          notes: { type: 'string', title: 'Notes', maxLength: 2_000 },
          sign: { type: 'boolean', title: 'Sign the packages', default: true },
        },
        required: ['version', 'channel', 'targets'],
      },
      refused: [
        {
          do: 'say',
          text: 'You declined, so there is no release. The changelog is ready for whenever you want one. Say **ask** to play this scene again.\n',
        },
      ],
    },
    {
      do: 'tool',
      name: 'Edit',
      title: 'Edit package.json',
      kind: 'edit',
      input: { file_path: 'package.json' },
      locations: [{ path: 'package.json', line: 3 }],
      diffs: [
        {
          path: 'package.json',
          oldText: '{\n  "name": "shop",\n  "version": "2.3.1"\n}\n',
          newText: '{\n  "name": "shop",\n  "version": "2.4.0"\n}\n',
        },
      ],
      takes: 300,
      output: 'The file package.json has been updated.',
    },
    {
      do: 'say',
      text: 'Thank you: your answers stand above, under the question. In the recording the release is **2.4.0**, whatever you filled in, and nothing left this machine.\n',
    },
  ],
};
