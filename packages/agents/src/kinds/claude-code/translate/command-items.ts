import type { UserCommandResult } from '../../../base/user-command.ts';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { describeTool } from './describe-tool.ts';

/** A user's command in its turn: a shell call with its output as it arrives. */
export class CommandItems {
  readonly #writer: TurnWriter;
  readonly #callId: string;
  readonly #output: string;

  constructor(writer: TurnWriter, command: string, cwd: string) {
    this.#writer = writer;
    this.#callId = `${writer.turnId}:command`;
    this.#output = `${this.#callId}:output`;
    const { kind, title } = describeTool('Bash', { command }, cwd);
    writer.add({
      type: 'function_call',
      id: this.#callId,
      callId: this.#callId,
      name: 'Bash',
      arguments: JSON.stringify({ command }),
      kind,
      title,
      origin: 'agent',
    });
    const empty = { output: '', success: true, origin: 'system' } as const;
    writer.start({
      type: 'function_call_output',
      id: this.#output,
      callId: this.#callId,
      ...empty,
    });
  }

  print(text: string): void {
    this.#writer.append(this.#output, text);
  }

  end({ exitCode, problem }: Pick<UserCommandResult, 'exitCode' | 'problem'>): void {
    const item = this.#writer.item(this.#output);
    if (item?.type !== 'function_call_output') return;
    const isExit = problem === undefined || exitCode !== null;
    const why = isExit ? '' : `${item.output === '' ? '' : '\n'}(${problem})`;
    this.#writer.done(this.#output, {
      ...item,
      output: `${item.output}${why}`,
      success: problem === undefined,
      ...(exitCode !== null && { exitCode }),
    });
  }
}
