/** Ends the turn of a model that repeats a failing step; otherwise the turn would continue to its limit of requests. */
import { cutText } from '@liminal/protocol';
import { isRecord, parseLine } from '../../base/parse-line.ts';
import type { CallResult } from './script-tool.ts';
import type { WantedCall } from './waiting-calls.ts';

/**
 * The number of equal failures after which the turn ends: for a call that cannot be run, and for a call that was run.
 */
const [mostNotRun, mostRun] = [3, 5];

/** The makers' finish reasons for answers that reached a length limit. */
export const lengthReasons = new Set([
  'length',
  'max_tokens',
  'max_output_tokens',
  'model_length',
  'incomplete',
]);

const isCutByLength = (finishReason: string): boolean =>
  lengthReasons.has(finishReason.toLowerCase());

/** Returns whether arguments are a JSON object; an empty text counts as an empty object. */
const isReadable = (text: string): boolean => text.trim() === '' || isRecord(parseLine(text));

/**
 * Returns the calls of an answer. If the answer ended at a length limit and its last call is incomplete, that call gets
 * a `problem`.
 */
export function withCutNamed<Call extends WantedCall>(
  calls: readonly Call[],
  finishReason: string,
): Call[] {
  if (!isCutByLength(finishReason)) return [...calls];
  return calls.map((call, index) =>
    index === calls.length - 1 && call.problem === undefined && !isReadable(call.arguments)
      ? { ...call, problem: cutProblem(call.name, finishReason) }
      : call,
  );
}

const cutProblem = (name: string, finishReason: string): string =>
  `This was not run: your answer reached its length limit (${finishReason}) in the middle of the arguments of ${name}. The same call would be cut off again. Make it shorter: write a large file in several smaller calls.`;

/** Counts the failing steps of a turn. A step consists of the calls of one answer and their outputs. */
export class FailingSteps {
  readonly #counts = new Map<string, number>();

  /** Returns why the turn must end, as a sentence for people; undefined if the turn may continue. */
  add(
    calls: readonly WantedCall[],
    answers: readonly CallResult[],
    finishReason: string,
  ): string | undefined {
    const failed = calls.findIndex((_call, index) => answers[index]?.success === false);
    const call = calls[failed];
    if (call === undefined) {
      this.#counts.clear();
      return undefined;
    }
    const step = JSON.stringify(calls.map((one, index) => failureKey(one, answers[index])));
    const count = (this.#counts.get(step) ?? 0) + 1;
    this.#counts.set(step, count);
    if (count < (wasRun(call) ? mostRun : mostNotRun)) return undefined;
    const why =
      isCutByLength(finishReason) && !isReadable(call.arguments)
        ? `The model’s answer was cut off by its length limit (${finishReason}) in the middle of a call of ${call.name}, ${count} times.`
        : `The model has made the same call of ${call.name} ${count} times, and it failed in the same way each time: ${sentence(answers[failed]?.output ?? '')}`;
    return `${why} So the turn ends here. Send a message to let the model continue in another way.`;
  }
}

const wasRun = ({ arguments: text, problem }: WantedCall): boolean =>
  problem === undefined && isReadable(text);

/**
 * Returns the key of a failure: failures with equal keys count as the same. Arguments that were cut off, or are not
 * JSON, vary by chance, so such arguments are not compared.
 */
const failureKey = (call: WantedCall, answer: CallResult | undefined): unknown[] =>
  wasRun(call) ? [call.name, call.arguments, answer?.output] : [call.name];

/** The most characters of an output that are shown to people. */
const maxShownOutput = 300;

function sentence(output: string): string {
  const [line = ''] = output.trim().split('\n');
  const short = line.length > maxShownOutput ? cutText(line, maxShownOutput) : line;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
