import type { EventPayload, OutputItem } from '@liminal/protocol';
import { z } from 'zod';
import type { TurnWriter } from '../../base/turn-writer.ts';
import {
  describeTools,
  runScript,
  scriptFence,
  type ScriptError,
  type ScriptHost,
  type ScriptOutcome,
} from '../scripts/index.ts';
import type { Tool, ToolResult } from '../tools/index.ts';
import type { ToolDefinition } from './model-client.ts';
import { ScriptReplay } from './script-replay.ts';
import type { WantedCall } from './waiting-calls.ts';
import { outputOf, type RecordedCall, scriptCallOf, scriptOf } from './waiting-calls.ts';

/** The name of the tool that runs a script. */
export const scriptName = 'run_script';

/** The result of a tool's call. */
export interface CallResult extends Pick<ToolResult, 'output' | 'success'> {
  /** When the call ended (ISO 8601 UTC). */
  endedAt?: string;
}

type CallItem = Extract<OutputItem, { type: 'function_call' }>;

const ScriptInput = z.object({
  code: z.string().min(1).describe('The body of an async JavaScript function.'),
});

/**
 * Returns the description of the script tool that the model gets.
 * @param definitions - The tools that a script can use.
 */
export function scriptDefinition(definitions: readonly ToolDefinition[]): ToolDefinition {
  const description = `Runs JavaScript that calls the other tools: for many calls in a row, or when only a part of what they say matters. The code is the body of an async function; it has nothing besides these, and returns a JSON value:\n\n${describeTools(definitions)}`;
  const { $schema: _, ...parameters } = z.toJSONSchema(ScriptInput, { io: 'input' });
  return { name: scriptName, description, parameters };
}

/**
 * The start of Liminal's messages to a model without tools. Such a model gets only messages of the user and its own
 * messages, so Liminal writes in the user's name.
 */
export const fromLiminal = '(This is from Liminal, not from the user.)';

/**
 * Returns the instructions that explain scripts to a model without tools.
 * @param faces - The tools that a script can use.
 */
export const scriptInstructions = (
  faces: readonly ToolDefinition[],
): string => `You cannot call tools directly. To use them, end your answer with a script in a block like this one, and wait:

\`\`\`${scriptFence}
const found = await tools.NAME({ … });
print('Found:', found);
return found.length;
\`\`\`

- It is JavaScript, the body of an async function. It has the functions below and nothing else: no modules, no files, no network. Put many calls into one script.
- Write one such block in an answer, closed, and nothing after it. It is run when your answer has ended. Never make up what it gives: the next message, which begins with “${fromLiminal}”, says what it printed and returned, or why it failed.
- The user may be asked for a permission before a call, and may refuse it: the call then throws an Error.
- An answer without such a block ends your turn: answer so when you are done, or have a question. To show code to the user, use a block of another name.

\`\`\`ts
${describeTools(faces)}\`\`\``;

/** The output of a script's call that was running when the server ended. */
const notRunAgain =
  'The server ended while this ran: it may be done, or not, or in part. It was not run again.';

/**
 * Runs a script when the number of running scripts allows another script; rejects with the signal's reason if the
 * signal aborts first.
 */
export type ScriptTurn = <T>(start: () => Promise<T>, signal: AbortSignal) => Promise<T>;

interface ScriptSurroundings {
  /** The tools that a script can use. */
  tools: ScriptHost['tools'];
  writer: () => TurnWriter;
  /** Runs a call of the script with the permission checks for calls of the model. */
  run: (call: WantedCall, signal: AbortSignal) => Promise<CallResult>;
  turn: ScriptTurn;
}

/** Returns the script tool for one call. The tool writes the script's start, its calls, and its end (seed 001, A.5). */
export function scriptTool(
  call: WantedCall,
  { tools, writer, run, turn }: ScriptSurroundings,
): Tool<z.infer<typeof ScriptInput>> {
  return {
    name: scriptName,
    description: '',
    kind: 'execute',
    input: ScriptInput,
    describe: async () => ({ title: 'Script' }),
    needs: () => undefined,
    run: async ({ code }, { signal }) => {
      const script = new ScriptCall(call, tools, writer, run);
      const outcome = await turn(async () => script.run(code, signal), signal);
      return { output: outcomeText(outcome), success: outcome.ok };
    },
  };
}

/**
 * One call of the script tool: a new script, or a script that was cut off and is replayed up to the point at which it
 * was cut off.
 */
class ScriptCall implements ScriptHost {
  readonly tools: ScriptHost['tools'];
  readonly #parentCallId: string;
  readonly #id: string;
  /** The time at which the script began in its first run, if the first run was cut off. */
  readonly #startedAt: string | undefined;
  readonly #replay: ScriptReplay;
  readonly #writer: () => TurnWriter;
  readonly #run: (call: WantedCall, signal: AbortSignal) => Promise<CallResult>;
  readonly #departed = new AbortController();
  #departure: ScriptError | undefined;
  /** The indexes of the calls whose questions have not been asked again yet. */
  readonly #unasked: Set<number>;
  readonly #onAsked: () => void;

  constructor(
    { callId, itemId, script, onAsked }: WantedCall,
    tools: ScriptHost['tools'],
    writer: () => TurnWriter,
    run: (call: WantedCall, signal: AbortSignal) => Promise<CallResult>,
  ) {
    this.#parentCallId = callId;
    this.#id = scriptOf(itemId);
    this.tools = tools;
    this.#writer = writer;
    this.#run = run;
    const { startedAt, calls = [] } = script ?? {};
    this.#startedAt = startedAt;
    this.#replay = new ScriptReplay(calls, (error) => this.#depart(error));
    this.#unasked = new Set(calls.flatMap(({ approvalId }, at) => (approvalId ? at + 1 : [])));
    this.#onAsked = () => onAsked?.();
  }

  async run(code: string, signal: AbortSignal): Promise<ScriptOutcome> {
    const itemId = this.#id;
    const parentCallId = this.#parentCallId;
    const { time } = this.#write({ type: 'script_execution_start', itemId, code, parentCallId });
    const startedAt = this.#startedAt ?? time;
    const either = AbortSignal.any([signal, this.#departed.signal]);
    const ended = await runScript(code, this, { signal: either, startedAt });
    if (ended.ok) this.#replay.ends();
    const error = signal.aborted ? undefined : this.#departure;
    const outcome: ScriptOutcome = error ? { ...ended, ok: false, error } : ended;
    if (outcome.ok) {
      const result = JSON.stringify(outcome.result);
      this.#write({ type: 'script_execution_done', itemId, result, success: true });
    } else {
      this.#write({ type: 'script_execution_error', itemId, error: outcome.error });
    }
    return outcome;
  }

  async call(name: string, input: unknown, signal: AbortSignal): Promise<CallResult> {
    const madeCall = { name, arguments: JSON.stringify(input ?? {}) };
    const place = this.#replay.place(madeCall);
    const before = await this.#replay.turnOf(place, signal);
    const callId = scriptCallOf(this.#id, place);
    const itsOwn = { id: callId, callId, parentCallId: this.#id };
    if (before !== undefined && before.approvalId === undefined)
      return this.#repeat(before, itsOwn);
    const item = { type: 'function_call', ...madeCall, origin: 'agent', ...itsOwn } as const;
    this.#writer().start(item);
    const onAsked = (): void => {
      if (this.#unasked.delete(place) && this.#unasked.size === 0) this.#onAsked();
    };
    const again = before && { approvalId: before.approvalId, onAsked };
    return this.#run({ ...madeCall, callId, itemId: callId, item, ...again }, signal);
  }

  waits(): void {
    this.#replay.waits();
  }

  /** Writes a recorded call and its output again, without running the call. */
  #repeat({ item, output }: RecordedCall, itsOwn: Pick<CallItem, 'id' | 'callId'>): CallResult {
    const { error: _, ...call } = item;
    this.#writer().add({ ...call, ...itsOwn });
    const writer = this.#writer();
    const lost = { output: notRunAgain, success: false, endedAt: writer.time };
    const type = 'function_call_output';
    const callOutput = output ?? { type, ...lost, origin: 'tool_harness' };
    writer.add({ ...callOutput, ...itsOwn, id: outputOf(itsOwn.id) });
    return output ?? lost;
  }

  #write(payload: EventPayload): TurnWriter {
    const writer = this.#writer();
    writer.write(payload);
    return writer;
  }

  #depart(error: ScriptError): void {
    this.#departure = error;
    this.#departed.abort();
  }
}

function outcomeText(outcome: ScriptOutcome): string {
  const { printed } = outcome;
  const end = outcome.ok ? JSON.stringify(outcome.result) : failure(outcome.error);
  return `${printed}${printed === '' || printed.endsWith('\n') ? '' : '\n'}${end}`;
}

const failure = ({
  code,
  message,
  stack,
}: {
  code: string;
  message: string;
  stack?: string | undefined;
}): string => [`${code}: ${message}`, stack].filter(Boolean).join('\n');
