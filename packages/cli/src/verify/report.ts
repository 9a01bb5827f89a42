import { escapeHiddenInJson } from '@liminal/protocol';
import { type Finding, findingLine } from '../finding.ts';

const words = { good: 'ok', poor: 'note', bad: 'fail' };

/** Prints the findings of the check: as lines for people, or as one JSON object per line for programs. */
export class Report {
  readonly #isJson: boolean;
  #failures = 0;

  constructor(isJson: boolean) {
    this.#isJson = isJson;
  }

  get hasFailed(): boolean {
    return this.#failures > 0;
  }

  addFindings(...findings: Finding[]): void {
    for (const { verdict, text } of findings) {
      if (verdict === 'bad') this.#failures += 1;
      if (this.#isJson) print({ type: 'finding', verdict: words[verdict], text });
      else console.log(findingLine({ verdict, text }));
    }
  }

  trace(traceId: string): void {
    if (this.#isJson) print({ type: 'trace', traceId });
    else console.log(`trace_id: ${traceId}`);
  }

  /** With `--json`, prints an event as read from the log. */
  event(event: object): void {
    if (this.#isJson) print({ type: 'event', event });
  }

  /** Prints the result and returns the exit code. */
  end(agent: string): number {
    const passed = !this.hasFailed;
    const count = this.#failures === 1 ? '1 check' : `${this.#failures} checks`;
    if (this.#isJson) print({ type: 'result', agent, passed });
    else if (passed) console.log(`All checks passed with ${agent}.`);
    else console.log(`Not everything works with ${agent}: ${count} failed.`);
    return passed ? 0 : 1;
  }
}

function print(line: object): void {
  console.log(escapeHiddenInJson(JSON.stringify(line)));
}
