/**
 * Reads the output of commands that an agent itself runs and streams in the `_meta` of a tool call's updates. The
 * client capability `_meta: {terminal_output: true}` requests this output. This capability is not part of the protocol,
 * but several agents support it.
 */
import { z } from 'zod';
import { readFields } from './fields.ts';

const meta = {
  terminal_info: z.object({ terminal_id: z.string() }),
  terminal_output: z.object({ terminal_id: z.string(), data: z.string() }),
  terminal_exit: z.object({
    terminal_id: z.string(),
    exit_code: z.number().int().nullish(),
    signal: z.string().nullish(),
  }),
};

export interface TerminalMeta {
  /** The id of the terminal that the call shows. */
  terminalId: string | undefined;
  output: string | undefined;
  exit: { exitCode: number | null; signal: string | null } | undefined;
  /** The other fields. */
  rest: Record<string, unknown> | undefined;
}

export function readTerminalMeta(value: unknown): TerminalMeta {
  const { fields, rest } = readFields(value, meta);
  const { terminal_info: info, terminal_output: output, terminal_exit: exit } = fields;
  return {
    terminalId: output?.terminal_id ?? exit?.terminal_id ?? info?.terminal_id,
    output: output?.data,
    exit: exit && { exitCode: exit.exit_code ?? null, signal: exit.signal ?? null },
    rest,
  };
}
