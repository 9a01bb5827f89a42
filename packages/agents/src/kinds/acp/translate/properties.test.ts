import { StreamEvent, stampEvent } from '@liminal/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readReplay } from './replay.ts';
import { brokenRules, foldTurn, itemsOf, payloadsOf, turnIdsOf } from '../../../testing/folding.ts';
import {
  startTranslator,
  timestamp,
  type RecordedTranslator,
} from './testing/recorded-translator.ts';

const types = [
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
  'usage_update',
  'notice',
  'compaction_update',
  'compaction_summary_chunk',
  'hologram',
];

const words = fc.constantFrom('', 'a', 'two words', '\n\n', '```sh\nx\n```\n', 'c1', 't1');
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  words,
  fc.constantFrom(null, 0, -1, 1.5, '__proto__'),
);
/** Generates mostly valid values, and at times any JSON. */
const or = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: value }, { weight: 1, arbitrary: odd });
const record = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  fc.record(fields, { requiredKeys: [] });

const block = or(
  record({
    type: or(fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link')),
    text: or(words),
    data: or(words),
    mimeType: or(words),
    uri: or(words),
    name: or(words),
    resource: or(record({ uri: or(words), text: or(words), blob: or(words) })),
    annotations: odd,
  }),
);
const terminal = record({ terminal_id: or(words), data: or(words), exit_code: or(fc.integer()) });
const meta = or(record({ terminal_output: or(terminal), terminal_exit: or(terminal), x: odd }));
const toolContent = or(
  record({
    type: or(fc.constantFrom('content', 'diff', 'terminal')),
    content: block,
    path: or(words),
    oldText: or(words),
    newText: or(words),
    terminalId: or(words),
  }),
);
const rawOutput = or(
  record({
    aggregated_output: or(words),
    stdout: or(words),
    exit_code: or(fc.integer()),
    content: or(fc.array(block, { maxLength: 2 })),
    error: or(words),
  }),
);

const update = or(
  record({
    sessionUpdate: or(fc.constantFrom(...types)),
    content: fc.oneof(block, or(fc.array(toolContent, { maxLength: 3 }))),
    messageId: or(fc.constantFrom('m1', 'm2')),
    toolCallId: or(fc.constantFrom('c1', 'c2')),
    title: or(words),
    name: or(words),
    kind: or(fc.constantFrom('read', 'execute', 'other')),
    status: or(fc.constantFrom('pending', 'in_progress', 'completed', 'failed')),
    locations: or(fc.array(or(record({ path: or(words), line: odd })), { maxLength: 2 })),
    rawInput: odd,
    rawOutput,
    entries: or(fc.array(or(record({ content: or(words), status: odd, priority: odd })))),
    availableCommands: or(fc.array(or(record({ name: or(words), description: odd, input: odd })))),
    configOptions: or(fc.array(or(record({ id: or(words), currentValue: odd, options: odd })))),
    currentModeId: or(words),
    compactionId: or(words),
    summary: or(fc.array(block, { maxLength: 2 })),
    used: odd,
    size: odd,
    cost: odd,
    _meta: meta,
  }),
);

type Step = (hearing: RecordedTranslator, index: number) => void;

const outcome = { outcome: 'cancelled' as const };
const error = { code: 'PROCESS_CRASH', message: 'It is gone.' };

/** A random call of one of a translator's methods. */
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: update.map(
      (said): Step =>
        ({ translator }) =>
          translator.read(said, timestamp),
    ),
  },
  fc.constant<Step>(({ translator }, index) =>
    translator.begin(`turn-${index}`, 'Do it.', timestamp),
  ),
  odd.map(
    (raw): Step =>
      ({ translator }) =>
        translator.finish(raw, timestamp),
  ),
  odd.map(
    (raw): Step =>
      ({ translator }) =>
        translator.settings(raw),
  ),
  update.map((raw): Step => ({ translator, drafts }) => {
    const call = translator.toolCall(raw, timestamp);
    const approvalId = `asked-${drafts.length}`;
    translator.openApproval({ approvalId, title: 'May I?', options: [], ...call }, timestamp);
  }),
  words.map(
    (text): Step =>
      ({ translator }) =>
        translator.terminalOutput('t1', text, timestamp),
  ),
  fc.constantFrom<Step>(
    ({ translator }) => translator.stop(timestamp),
    ({ translator }) => translator.terminalExit('t1', { exitCode: 1 }, timestamp),
    ({ translator }) => translator.end({ type: 'response_error', error }, timestamp),
    ({ translator }, index) =>
      translator.openApproval({ approvalId: `a${index}`, title: 'May I?', options: [] }, timestamp),
    ({ translator }, index) => translator.closeApproval(`a${index - 1}`, outcome, timestamp),
  ),
);

const run = {
  sessionId: 's',
  runId: 'r',
  traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
};

/** Returns violations of invariants 2 and 3 (events and turns), and calls without an output. */
function breaches({ drafts }: Pick<RecordedTranslator, 'drafts'>): unknown[] {
  const invalid = drafts.flatMap((draft, seq) => {
    const { error: issue } = StreamEvent.safeParse(stampEvent(draft, run, seq));
    return issue === undefined ? [] : [issue];
  });
  const broken = turnIdsOf(drafts).map((turnId) => brokenRules(payloadsOf(drafts, turnId)));
  const unanswered = turnIdsOf(drafts).filter((turnId) => {
    const response = foldTurn(drafts, turnId);
    const called = itemsOf(response, 'function_call').map(({ callId }) => callId);
    const answered = itemsOf(response, 'function_call_output').map(({ callId }) => callId);
    return called.toSorted().join(' ') !== answered.toSorted().join(' ');
  });
  return [...invalid, ...broken.flat(), ...unanswered];
}

test('INV-2, INV-3: for any input nothing throws, every turn ends once and after its items, and every call has an output', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const hearing = startTranslator();
      for (const [index, happen] of steps.entries()) happen(hearing, index);
      hearing.translator.finish({ stopReason: 'end_turn' }, timestamp);
      expect(hearing.translator.turn).toBeUndefined();
      expect(breaches(hearing)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('INV-2, INV-3: any replay gives whole turns, and the same turns when read again', () => {
  const options = { cliType: 'scripted', agentSessionId: 'agent' };
  fc.assert(
    fc.property(fc.array(update, { maxLength: 20 }), (updates) => {
      const replayed = updates.map((said) => ({ update: said, timestamp }));
      const turns = readReplay(replayed, options);
      expect(breaches({ drafts: turns.flatMap(({ events }) => events) })).toEqual([]);
      expect(new Set(turns.map(({ turnId }) => turnId)).size).toBe(turns.length);
      expect(readReplay(replayed, options)).toEqual(turns);
    }),
    { numRuns: 150 },
  );
});
