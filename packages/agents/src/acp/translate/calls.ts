import { z } from 'zod';
import { ToolKind, ToolLocation } from '@liminal/protocol';
import type { TurnWriter } from '../../base/turn-writer.ts';
import { readFields } from './fields.ts';

const toolCall = {
  sessionUpdate: z.string(),
  toolCallId: z.string().min(1),
  title: z.string(),
  name: z.string(),
  kind: ToolKind,
  status: z.enum(['pending', 'in_progress', 'completed', 'failed']),
  content: z.array(z.unknown()),
  locations: z.array(ToolLocation),
  rawInput: z.unknown(),
  rawOutput: z.unknown(),
};

/** The tool calls of one turn. */
export class Calls {
  readonly #writer: TurnWriter;
  readonly #open = new Set<string>();

  constructor(writer: TurnWriter) {
    this.#writer = writer;
  }

  /** A call or what is new of it; gives its id, if it has one. */
  read(update: unknown): string | undefined {
    const {
      toolCallId: callId,
      title,
      name,
      kind,
      status,
      rawInput,
      rawOutput,
    } = readFields(update, toolCall).fields;
    if (callId === undefined) return undefined;
    const id = `${this.#writer.turnId}:call:${callId}`;
    if (!this.#writer.isOpen(id)) {
      this.#open.add(callId);
      this.#writer.start({
        type: 'function_call',
        id,
        callId,
        name: name ?? kind ?? 'tool',
        arguments: rawInput === undefined ? '{}' : JSON.stringify(rawInput),
        origin: 'agent',
        ...(title !== undefined && { title }),
        ...(kind !== undefined && { kind }),
      });
    }
    if (status === 'completed' || status === 'failed') {
      const output = rawOutput === undefined ? '' : JSON.stringify(rawOutput);
      this.#end(callId, output, status === 'completed');
    }
    return callId;
  }

  closeAll(reason: string): void {
    for (const callId of this.#open) this.#end(callId, reason, false);
  }

  #end(callId: string, output: string, success: boolean): void {
    this.#open.delete(callId);
    this.#writer.done(`${this.#writer.turnId}:call:${callId}`);
    this.#writer.add({
      type: 'function_call_output',
      id: `${this.#writer.turnId}:output:${callId}`,
      callId,
      output,
      success,
      origin: 'tool_harness',
    });
  }
}
