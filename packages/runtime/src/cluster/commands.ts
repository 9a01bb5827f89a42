/** What may be asked of the server that owns a session: here, or by another server. */
import { ApprovalAnswerBody } from '@liminal/protocol';
import { z } from 'zod';
import type { SessionRuntime } from '../runtime.ts';

interface Command<Args extends unknown[]> {
  /** Those after the session's id. */
  args: z.ZodType<Args>;
  run: (owner: Owner, sessionId: string, ...args: Args) => Promise<unknown>;
}

/** The runtime of the sessions that a server owns. */
export interface Owner {
  runtime: SessionRuntime;
  /** The token of the session's lease. */
  fenceOf: (sessionId: string) => number;
}

const Text = z.string();
const command = <Args extends unknown[]>(
  args: z.ZodType<Args>,
  run: Command<Args>['run'],
): Command<Args> => ({ args, run });

export const commands = {
  loadSession: command(z.tuple([]), async ({ runtime, fenceOf }, sessionId) =>
    runtime.loadSession(sessionId, fenceOf(sessionId)),
  ),
  prewarm: command(z.tuple([]), async ({ runtime }, sessionId) => runtime.prewarm(sessionId)),
  /** A message and its turn's id: asked twice, because an answer was lost, it is sent once. */
  send: command(z.tuple([Text, Text]), async ({ runtime }, sessionId, message, turnId) =>
    runtime.send(sessionId, message, turnId),
  ),
  editQueued: command(z.tuple([Text, Text]), async ({ runtime }, sessionId, turnId, message) =>
    runtime.editQueued(sessionId, turnId, message),
  ),
  removeQueued: command(z.tuple([Text]), async ({ runtime }, sessionId, turnId) =>
    runtime.removeQueued(sessionId, turnId),
  ),
  rename: command(z.tuple([Text]), async ({ runtime }, sessionId, title) =>
    runtime.rename(sessionId, title),
  ),
  cancel: command(z.tuple([]), async ({ runtime }, sessionId) => runtime.cancel(sessionId)),
  kill: command(z.tuple([]), async ({ runtime }, sessionId) => runtime.kill(sessionId)),
  answerApproval: command(
    z.tuple([Text, ApprovalAnswerBody]),
    async ({ runtime }, sessionId, approvalId, answer) =>
      runtime.answerApproval(sessionId, approvalId, answer),
  ),
  setConfig: command(z.tuple([Text, Text]), async ({ runtime }, sessionId, id, value) =>
    runtime.setConfig(sessionId, id, value),
  ),
};

export type CommandName = keyof typeof commands;
export type CommandArgs<Name extends CommandName> = z.infer<(typeof commands)[Name]['args']>;

/** A command as it goes from server to server. */
export const CommandRequest = z.object({
  command: z.custom<CommandName>(
    (name) => typeof name === 'string' && Object.hasOwn(commands, name),
  ),
  sessionId: Text,
  args: z.array(z.unknown()),
});
export type CommandRequest = z.infer<typeof CommandRequest>;

/** Runs a command whose arguments may come from elsewhere. Throws what the command rejects with, or a ZodError. */
export async function runCommand(owner: Owner, request: CommandRequest): Promise<unknown> {
  const { args, run }: Command<never[]> = commands[request.command] as unknown as Command<never[]>;
  return run(owner, request.sessionId, ...args.parse(request.args));
}
