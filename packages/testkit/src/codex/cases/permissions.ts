import { answer, functionCall, message } from '../../responses-api/reply.ts';
import { pause } from '../../scripted-server/stream-incident.ts';
import { hasMethod, type RecordedCase } from '../record.ts';
import { applyPatch, execCommand } from '../tools.ts';

const asked = (name: string, about: string, rest: Partial<RecordedCase> = {}): RecordedCase => ({
  name,
  about,
  files: { 'notes.txt': 'one\n', 'old.txt': 'stale\n' },
  codex: { approvalPolicy: 'on-request', sandbox: 'read-only' },
  script: () => [
    answer([
      message('May I?'),
      execCommand('touch made.txt && echo made', { escalate: 'It makes a file.' }),
    ]),
    answer('So be it.'),
  ],
  run: async (client) => {
    await client.prompt(await client.newSession(), 'Do it.');
  },
  ...rest,
});

const decided = (decision: unknown): Pick<RecordedCase, 'permit'> => ({
  permit: () => Promise.resolve({ decision }),
});

/** Stops the turn when Codex asks for permission, and does not answer the request. */
const stopped = (method: string): Pick<RecordedCase, 'permit' | 'run'> => ({
  permit: () => Promise.resolve(undefined),
  run: async (client) => {
    const thread = await client.newSession();
    const turn = await client.begin(thread, 'Do it.');
    await client.until(hasMethod(method));
    await client.interrupt(thread, turn);
    await client.until(hasMethod('serverRequest/resolved'));
    await client.prompt(thread, 'And now?');
  },
});

const oneTwice: RecordedCase['script'] = () => [
  answer(execCommand('touch made.txt', { escalate: 'It makes a file.' })),
  answer(execCommand('touch made.txt', { escalate: 'It makes it again.' })),
  answer('So be it.'),
];

const patch: RecordedCase['script'] = () => [
  answer(
    applyPatch(['*** Update File: notes.txt', '@@', '-one', '+eins', '*** Delete File: old.txt']),
  ),
  answer(applyPatch(['*** Add File: fresh.txt', '+first'])),
  answer('That is all.'),
];

const rights = (
  name: string,
  about: string,
  permit: Pick<RecordedCase, 'permit'> = {},
): RecordedCase =>
  asked(name, about, {
    ...permit,
    script: () => [
      answer(
        functionCall('request_permissions', {
          reason: 'To write there.',
          permissions: { file_system: { write: ['/tmp/elsewhere'] }, network: { enabled: true } },
        }),
      ),
      answer('I know my rights.'),
    ],
    codex: { approvalPolicy: 'on-request', sandbox: 'read-only', asksForRights: true },
  });

export const permissionCases: RecordedCase[] = [
  asked('permission-allowed', 'A command runs after a permission.', decided('accept')),
  asked(
    'permission-always',
    'A command runs after a permission for all like it, of which a second makes use.',
    {
      permit: ({ params }) => {
        const amendment = Object(params).proposedExecpolicyAmendment as unknown;
        const decision = { acceptWithExecpolicyAmendment: { execpolicy_amendment: amendment } };
        return Promise.resolve({ decision });
      },
      script: oneTwice,
    },
  ),
  asked(
    'permission-session',
    'A command runs after a permission for the session, of which the same command makes use.',
    { ...decided('acceptForSession'), script: oneTwice },
  ),
  asked('permission-rejected', 'A command is refused, and the model goes on.', decided('decline')),
  asked(
    'permission-cancelled',
    'A command is refused in a way that ends the turn.',
    decided('cancel'),
  ),
  asked(
    'permission-cancel-turn',
    'The turn is stopped while a permission is asked for.',
    stopped('item/commandExecution/requestApproval'),
  ),
  asked(
    'permission-two',
    'Two permissions are asked for at the same time, and given in the other order.',
    {
      permit: async (_request, client) => {
        await client.silence();
        return { decision: 'accept' };
      },
      script: () => [
        answer([
          execCommand('sleep 0.2; echo first', { escalate: 'One.', callId: 'call_first' }),
          execCommand('sleep 0.2; echo second', {
            escalate: 'Two.',
            callId: 'call_second',
            before: [pause(400)],
          }),
        ]),
        answer('Both ran.'),
      ],
    },
  ),
  asked('permission-patch', 'Two patches are applied, each after a permission.', {
    ...decided('accept'),
    script: patch,
  }),
  asked(
    'permission-patch-session',
    'A patch is applied after a permission for the session; another one is asked for all the same.',
    { ...decided('acceptForSession'), script: patch },
  ),
  asked('permission-patch-rejected', 'Patches are refused, and the model goes on.', {
    ...decided('decline'),
    script: patch,
  }),
  asked('permission-patch-cancelled', 'A patch is refused in a way that ends the turn.', {
    ...decided('cancel'),
    script: patch,
  }),
  asked('permission-patch-cancel-turn', 'The turn is stopped while a patch is asked for.', {
    ...stopped('item/fileChange/requestApproval'),
    script: () => [
      answer(applyPatch(['*** Add File: fresh.txt', '+first'])),
      answer('Back again.'),
    ],
  }),
  rights('permission-rights', 'The model asks for more rights, and is given them for the turn.'),
  rights('permission-rights-rejected', 'The model asks for more rights in vain.', {
    permit: () => Promise.resolve({ permissions: {}, scope: 'turn' }),
  }),
];
