import type { Meter, MeteredTurn } from '@liminal/runtime';
import { Counter, Histogram, Registry } from 'prom-client';
import { LabelValues } from './label-values.ts';

/** How many distinct models each agent type may have as label values, and how many distinct error codes. */
const modelsMax = 30;
const codesMax = 60;

const turnLabels = ['agent', 'model'] as const;
type TurnLabel = (typeof turnLabels)[number];

/** This server's counters since its start, for Prometheus. No label may contain an id, a path or a secret. */
export class Metrics implements Meter {
  readonly registry = new Registry();
  readonly #models = new Map<string, LabelValues>();
  readonly #codes = new LabelValues(codesMax);
  readonly #turns = this.#counter(
    'liminal_turns_total',
    'Ended turns by status: complete, error or aborted.',
    [...turnLabels, 'status'],
  );
  readonly #errors = this.#counter(
    'liminal_turn_errors_total',
    'Turns that ended with an error, by error code.',
    ['agent', 'code'],
  );
  readonly #tokens = this.#counter(
    'liminal_tokens_total',
    'Tokens of ended turns, as counted by their agents: input (all of it), output, and the parts of the input that were read from the cache (cache_read) or written to it (cache_creation).',
    [...turnLabels, 'kind'],
  );
  readonly #cost = this.#counter(
    'liminal_cost_dollars_total',
    'Cost of ended turns in US dollars, as far as their agents report it.',
    turnLabels,
  );
  readonly #firstText = this.#histogram(
    'liminal_first_text_seconds',
    'Time from the beginning of a turn to the first text of its agent.',
    [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80],
    turnLabels,
  );
  readonly #duration = this.#histogram(
    'liminal_turn_seconds',
    'Time from the beginning of a turn to its end.',
    [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600],
    turnLabels,
  );
  readonly #approvals = this.#histogram(
    'liminal_approval_wait_seconds',
    'How long permission requests waited for an answer or the end of their turn.',
    [1, 5, 15, 60, 300, 900, 3_600, 14_400],
    ['agent'],
  );
  readonly #appends = this.#histogram(
    'liminal_log_append_seconds',
    'How long the log takes to store events of a turn; clients get them only afterwards.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  );
  readonly #refusedAppends = this.#counter(
    'liminal_log_refusals_total',
    'How often the log has rejected events; they are kept and appended again.',
  );
  readonly #refusals = this.#counter(
    'liminal_http_refusals_total',
    'HTTP requests that were rejected or failed, by code.',
    ['code'],
  );

  turnEnded(turn: MeteredTurn): void {
    const { cliType, modelId, status, errorCode, seconds, firstTextSeconds, costDollars } = turn;
    const labels = { agent: cliType, model: this.#model(cliType, modelId) };
    this.#turns.inc({ ...labels, status });
    this.#duration.observe(labels, seconds);
    if (firstTextSeconds !== undefined) this.#firstText.observe(labels, firstTextSeconds);
    if (costDollars !== undefined) this.#cost.inc(labels, costDollars);
    if (status === 'error') {
      this.#errors.inc({ agent: cliType, code: this.#codes.bound(errorCode ?? '') });
    }
    for (const [kind, count] of tokensOf(turn)) this.#tokens.inc({ ...labels, kind }, count);
  }

  approvalEnded(cliType: string, seconds: number): void {
    this.#approvals.observe({ agent: cliType }, seconds);
  }

  appended(seconds: number): void {
    this.#appends.observe(seconds);
  }

  appendRefused(): void {
    this.#refusedAppends.inc();
  }

  /** Counts a request that was rejected or has failed. */
  refused(code: string): void {
    this.#refusals.inc({ code: this.#codes.bound(code) });
  }

  #model(cliType: string, modelId: string): string {
    const known = this.#models.get(cliType) ?? new LabelValues(modelsMax);
    this.#models.set(cliType, known);
    return known.bound(modelId);
  }

  #counter<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<Label extends string = TurnLabel>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly Label[] = [],
  ) {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.registry] });
  }
}

function tokensOf({ usage }: MeteredTurn): [kind: string, count: number][] {
  if (!usage) return [];
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens } = usage;
  return [
    ['input', inputTokens],
    ['output', outputTokens],
    ['cache_read', cacheReadInputTokens ?? 0],
    ['cache_creation', cacheCreationInputTokens ?? 0],
  ];
}
