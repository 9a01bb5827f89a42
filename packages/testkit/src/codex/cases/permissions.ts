import { answer, message } from '../../responses-api/reply.ts';
import { pause } from '../../scripted-server/happening.ts';
import type { RecordedCase } from '../record.ts';
import { applyPatch, execCommand } from '../tools.ts';
import { terminalOutput } from './commands.ts';

const isPermissionRequest = ({ method }: { method?: string | undefined }): boolean =>
  method === 'session/request_permission';

const asked = (
  name: string,
  about: string,
  rest: Partial<RecordedCase> & { optionId?: string } = {},
): RecordedCase => ({
  name,
  about,
  files: { 'notes.txt': 'one\n' },
  codex: { approvalPolicy: 'on-request', sandbox: 'workspace-write' },
  script: () => [
    answer([
      message('May I?'),
      execCommand('touch made.txt && echo made', { escalate: 'It makes a file.' }),
    ]),
    answer(message([pause(300), 'So be it.'])),
  ],
  run: async (client) => {
    await client.prompt(await client.newSession(), 'Do it.');
  },
  ...rest,
});

const answered = (optionId: string): Pick<RecordedCase, 'permit'> => ({
  permit: () => Promise.resolve(optionId),
});

export const permissionCases: RecordedCase[] = [
  asked('permission-allowed', 'A command runs after a permission.', answered('approved')),
  asked(
    'permission-allowed-terminal',
    'A command runs after a permission. The client shows terminals.',
    {
      ...answered('approved'),
      capabilities: terminalOutput,
    },
  ),
  asked(
    'permission-always',
    'A command runs after a permission for all like it, of which a second makes use.',
    {
      ...answered('approved-execpolicy-amendment'),
      script: () => [
        answer(execCommand('touch made.txt', { escalate: 'It makes a file.' })),
        answer(execCommand('touch made.txt', { escalate: 'It makes it again.' })),
        answer(message([pause(300), 'So be it.'])),
      ],
    },
  ),
  asked('permission-rejected', 'A command is refused, which ends the turn.', answered('abort')),
  asked(
    'permission-cancelled',
    'The client answers that the request was cancelled, without cancelling the turn.',
    {
      permit: () => Promise.resolve(undefined),
    },
  ),
  asked('permission-cancel-turn', 'The turn is cancelled while a permission is asked for.', {
    permit: async (_options, client) => {
      await client.gate.pass();
      return undefined;
    },
    run: async (client) => {
      const session = await client.newSession();
      const ended = client.prompt(session, 'Do it.');
      await client.until(isPermissionRequest);
      client.notify('session/cancel', { sessionId: session });
      client.gate.open();
      await ended;
      await client.prompt(session, 'And now?');
    },
  }),
  asked('permission-two', 'Two permissions are asked for at the same time.', {
    permit: async (_options, client) => {
      await client.silence();
      return 'approved';
    },
    script: () => [
      answer([
        execCommand('echo first', { escalate: 'One.', callId: 'call_first' }),
        execCommand('echo second', { escalate: 'Two.', callId: 'call_second' }),
      ]),
      answer(message([pause(300), 'Both ran.'])),
    ],
  }),
  asked(
    'permission-untrusted',
    'Codex asks for whatever it does not know, where it trusts nothing.',
    {
      ...answered('approved'),
      codex: { approvalPolicy: 'untrusted' },
      script: () => [
        answer([execCommand('touch made.txt'), execCommand('cat notes.txt')]),
        answer(message([pause(300), 'So be it.'])),
      ],
    },
  ),
  asked('permission-patch', 'A patch is applied after a permission.', {
    ...answered('approved'),
    codex: { approvalPolicy: 'untrusted' },
    script: () => [
      answer(applyPatch(['*** Update File: notes.txt', '@@', '-one', '+eins'])),
      answer('Changed.'),
    ],
  }),
  asked('permission-patch-rejected', 'A patch is refused, which ends the turn.', {
    ...answered('abort'),
    codex: { approvalPolicy: 'untrusted' },
    script: () => [
      answer(applyPatch(['*** Update File: notes.txt', '@@', '-one', '+eins'])),
      answer('Then not.'),
    ],
  }),
];
