import {
  emptyResponse,
  type ErrorObject,
  foldResponse,
  isTerminal,
  readTraceparent,
  type Response,
  type SpanContext,
  StreamEvent,
  itemText,
  toResponse,
} from '@liminal/protocol';
import { describeIssues } from '../errors.ts';
import type { Finding } from '../finding.ts';

/** One entry of a run's log, as read and not yet checked. */
export type LogEntry =
  | { kind: 'event'; name: string; id?: string; value: Record<string, unknown> }
  /** True if the run was closed without its terminal event. */
  | { kind: 'closed' }
  /** The Response of the run, which replaces events that the log no longer has. */
  | { kind: 'snapshot'; run: Response };

/** Values that every event of the run must contain. */
export interface ExpectedRun {
  /** Display name of the source from which the entries are read, for example `XREAD of …`. */
  how: string;
  sessionId: string;
  runId: string;
  /** The span of the request with which the prompt was sent. */
  request: SpanContext;
  /** Whether the agent must stream. An agent over ACP need not stream. */
  streams: boolean;
}

/** The fields that every entry must have according to `docs/redis-streams.md`. */
const requiredFields = [
  'type',
  'timestamp',
  'payload',
  'eventId',
  'seq',
  'runId',
  'sessionId',
  'turnId',
  'traceContext',
] as const;

/**
 * The length (in characters) from which an answer must arrive in several deltas. A shorter answer may arrive in one
 * delta even if the agent streams.
 */
const short = 40;

/** Checks that the events of one run match the log's documentation (seed 001, A.6). */
export class RunCheck {
  readonly #expected: ExpectedRun;
  #state = emptyResponse();
  #count = 0;
  #next = 0;
  #isOver = false;
  #snapshot: Response | undefined;
  #question: string | undefined;
  /** The number of events of each type. */
  readonly #types = new Map<string, number>();
  /** The ids of the agent's messages and reasoning. */
  readonly #agentItems = new Set<string>();
  readonly #open = new Set<string>();
  #deltas = 0;
  #done = 0;
  /** For each kind of fault: the sentence about the first fault, and the number of faults. */
  readonly #faults = new Map<string, { sentence: string; times: number }>();

  constructor(expected: ExpectedRun) {
    this.#expected = expected;
  }

  /** Whether the log is complete. No more entries can arrive after a complete log. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The agent's permission request, which a check cannot answer. */
  get question(): string | undefined {
    return this.#question;
  }

  get count(): number {
    return this.#count;
  }

  /** The Response that the run's events fold into. */
  get run(): Response | undefined {
    return toResponse(this.#state);
  }

  /** The agent's whole text. */
  get text(): string {
    const items = this.run?.outputItems ?? [];
    return items
      .flatMap((item) => (this.#agentItems.has(item.id) ? itemText(item) : []))
      .join('\n');
  }

  take(entry: LogEntry): void {
    if (entry.kind === 'event') return this.#takeEvent(entry);
    this.#isOver = true;
    if (entry.kind === 'snapshot') this.#snapshot = entry.run;
    else this.#fault('closed', 'The run was closed without its end: its server was lost.');
  }

  /** Returns the findings about all entries. */
  findings(): Finding[] {
    const { error, status } = this.#snapshot ?? this.run ?? {};
    if (status === 'error') return [...this.#faulty(), bad(failed(error))];
    if (status === 'aborted') return [...this.#faulty(), bad('The turn was stopped.')];
    if (this.#snapshot) {
      return [bad('The run was over before its events could be read. Try again.')];
    }
    const faults = [...this.#faulty(), ...this.#missing()];
    if (faults.length > 0 || !this.#isOver) return faults;
    const types = Array.from(this.#types, ([type, count]) =>
      count === 1 ? type : `${count} ${type}`,
    );
    return [
      good(`${this.#expected.how} gives ${this.#count} events without a gap: ${types.join(', ')}`),
      good('Each event has a trace context of the request’s trace'),
      ...this.#streaming(),
    ];
  }

  #takeEvent({ name, id, value }: Extract<LogEntry, { kind: 'event' }>): void {
    this.#count += 1;
    if (this.#isOver) this.#fault('after', `${name} came after the end of the run.`);
    const lacks = requiredFields.filter((field) => value[field] === undefined);
    for (const field of lacks) this.#fault(field, `${name} has no “${field}”.`);
    this.#checkPosition(name, id, value['seq']);
    const parsed = StreamEvent.safeParse(value);
    if (parsed.success) return this.#read(name, parsed.data);
    if (lacks.length === 0) {
      this.#fault('form', `${name} is not a valid event: ${describeIssues(parsed.error)}.`);
    }
    // Look at the type even if the event is invalid: the type shows whether the run has ended.
    const { type } = value;
    if (type === 'response_done' || type === 'response_error') this.#isOver = true;
  }

  #checkPosition(name: string, id: string | undefined, seq: unknown): void {
    if (typeof seq !== 'number') return;
    if (seq > this.#next) {
      const missing = seq === this.#next + 1 ? this.#next : `${this.#next} to ${seq - 1}`;
      this.#fault('gap', `There is a gap before ${name}: seq ${missing} is missing.`);
    }
    if (seq < this.#next) this.#fault('order', `${name} repeats seq ${seq}.`);
    if (id !== undefined && id !== `0-${seq + 1}`) {
      this.#fault('id', `${name} has seq ${seq}, so it must be entry 0-${seq + 1}.`);
    }
    this.#next = Math.max(this.#next, seq + 1);
  }

  #read(name: string, event: StreamEvent): void {
    const { sessionId, runId, request } = this.#expected;
    const { type, payload } = event;
    this.#types.set(type, (this.#types.get(type) ?? 0) + 1);
    const isOurs = event.sessionId === sessionId && event.runId === runId && event.turnId === runId;
    if (!isOurs) this.#fault('ids', `${name} names another run, turn or session.`);
    if (event.eventId !== `${runId}:${event.seq}`) {
      this.#fault(
        'eventId',
        `${name} has the eventId ${event.eventId}, not ${runId}:${event.seq}.`,
      );
    }
    const span = readTraceparent(event.traceContext.traceparent);
    if (span?.traceId !== request.traceId) {
      this.#fault(
        'trace',
        `${name} belongs to trace ${span?.traceId}, not to that of the request. A proxy in front of the server must forward traceparent.`,
      );
    }
    if (this.#count === 1 && type !== 'response_start') {
      this.#fault('start', `The run begins with ${type}, not with response_start.`);
    }
    this.#note(payload);
    this.#state = foldResponse(this.#state, event);
    this.#isOver ||= isTerminal(event);
  }

  #note(payload: StreamEvent['payload']): void {
    if (payload.type === 'item_start') {
      const { itemId, itemType, origin } = payload;
      const isAgentItem = itemType === 'reasoning' || (itemType === 'message' && origin !== 'user');
      if (isAgentItem) this.#agentItems.add(itemId);
      if (itemType === 'approval') this.#question = payload.title ?? 'something';
    }
    if (!('itemId' in payload)) return;
    const { itemId } = payload;
    if (payload.type === 'item_start' || payload.type === 'script_execution_start') {
      this.#open.add(itemId);
    } else if (payload.type !== 'item_delta') this.#open.delete(itemId);
    if (!this.#agentItems.has(itemId)) return;
    if (payload.type === 'item_delta') this.#deltas += 1;
    if (payload.type === 'item_done') this.#done += 1;
  }

  #fault(kind: string, sentence: string): void {
    const known = this.#faults.get(kind);
    if (known) known.times += 1;
    else this.#faults.set(kind, { sentence, times: 1 });
  }

  #faulty(): Finding[] {
    return Array.from(this.#faults.values(), ({ sentence, times }) =>
      bad(times === 1 ? sentence : `${sentence} The same is true of ${times - 1} more.`),
    );
  }

  /**
   * Returns findings about events that a complete run must have and that this run lacks. Returns no findings if the run
   * has faulty events, because a faulty event may be the event that seems to be missing.
   */
  #missing(): Finding[] {
    if (!this.#isOver || this.#faults.size > 0) return [];
    if (this.#agentItems.size === 0) {
      return [bad('The agent said nothing: there is no item_start of a message or of reasoning.')];
    }
    const [left] = this.#open;
    if (left !== undefined) return [bad(`Item ${left} began but has no end.`)];
    return this.#done > 0
      ? []
      : [bad('The agent withdrew all of its text: there is no item_done.')];
  }

  #streaming(): Finding[] {
    if (this.#deltas > 1) return [];
    const came = `in ${this.#deltas === 1 ? 'one' : 'no'} item_delta`;
    if (this.text.length < short) {
      const text = `The answer came ${came}, but is too short to show that text streams`;
      return [{ verdict: 'poor', text: `${text}: ask for more with --prompt.` }];
    }
    if (!this.#expected.streams) {
      return [
        { verdict: 'poor', text: `The answer came whole, ${came}: the agent does not stream.` },
      ];
    }
    return [
      bad(
        `The answer came whole, ${came}, instead of streaming: the model’s server, or a proxy in front of it, buffers the text.`,
      ),
    ];
  }
}

const good = (text: string): Finding => ({ verdict: 'good', text });
const bad = (text: string): Finding => ({ verdict: 'bad', text });

function failed(error: ErrorObject | undefined): string {
  const { code = 'UNKNOWN', message = 'no reason was given.' } = error ?? {};
  return `The turn failed (${code}): ${message}`;
}
