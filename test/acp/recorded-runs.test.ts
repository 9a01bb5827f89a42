/**
 * The updates that an editor gets during recorded turns of real agents, one update per line. `npx vitest run test/acp
 * --update=all` rewrites the files with these updates. The editor supports every feature, and has sent the prompt
 * itself.
 */
import { tmpdir } from 'node:os';
import { DriverProvider } from '@liminal/agents';
import { DemoDriver } from '@liminal/agents/demo';
import { type EventDraft, stampEvent, type StreamEvent } from '@liminal/protocol';
import { loadClaudeRecording, loadCodexRecording } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { turnOf as acpTurn } from '../../packages/agents/src/kinds/acp/translate/testing/recorded-translator.ts';
import {
  startTranslator,
  timestamp,
} from '../../packages/agents/src/kinds/claude-code/translate/testing/recorded-translator.ts';
import { Watch } from '../../packages/agents/src/testing/watch.ts';
import { loadAdapterRecording } from '../../packages/agents/test/acp/record-codex-adapter.ts';
import { playRecording } from '../../packages/agents/test/codex/play-recording.ts';
import {
  showsAll,
  foldCheckedEvents,
  updatesIn,
} from '../../packages/server/src/acp/fold/testing/checked-fold.ts';

async function claude(name: string): Promise<EventDraft[]> {
  const { translator, drafts } = startTranslator();
  let turns = 0;
  for (const entry of (await loadClaudeRecording(name)).entries) {
    if ('sdk' in entry) translator.read(entry.sdk, timestamp);
    else if (entry.host.action === 'send') {
      translator.expect({ ...entry.host, turnId: `turn-${++turns}` });
    }
  }
  return drafts;
}

async function codex(name: string): Promise<EventDraft[]> {
  const sessions = await playRecording(await loadCodexRecording(name));
  return sessions.flatMap(({ drafts }) => drafts);
}

/** Reads a recording of an agent that speaks ACP itself. */
async function adapter(name: string): Promise<EventDraft[]> {
  return acpTurn((loadAdapterRecording()[name] ?? []).map(({ params }) => params['update']));
}

/** Allows every permission request. */
async function demo(name: string): Promise<EventDraft[]> {
  const provider = new DriverProvider(new DemoDriver({ speed: Infinity }));
  const watch = new Watch(provider, 'demo');
  await provider.createSession({ projectDir: tmpdir(), sessionId: 'demo' });
  provider.onEvent('demo', ({ payload }) => {
    if (payload.type !== 'item_start' || payload.itemType !== 'approval') return;
    void provider.answerApproval?.('demo', payload.itemId, { optionId: 'allow' });
  });
  const { turnId } = await provider.sendMessage('demo', `/${name}`);
  const drafts = await watch.ended(turnId);
  await provider.close();
  return JSON.parse(JSON.stringify(drafts).replaceAll(turnId, name)) as EventDraft[];
}

/**
 * Returns the events of each turn as one run. If all text of an item arrives at the same time, the text is one event,
 * as in the log.
 */
function runsOf(drafts: readonly EventDraft[]): StreamEvent[][] {
  const turns = Map.groupBy(drafts, ({ turnId }) => turnId);
  return [...turns].map(([runId, ofTurn]) => {
    const run = { sessionId: 's', runId, traceContext: { traceparent: '00' } };
    return joined(ofTurn).map((draft, seq) => stampEvent(draft, run, seq));
  });
}

function joined(drafts: readonly EventDraft[]): EventDraft[] {
  const all: EventDraft[] = [];
  for (const draft of drafts) {
    const last = all.at(-1)?.payload;
    const { payload } = draft;
    const goesOn =
      last?.type === 'item_delta' &&
      payload.type === 'item_delta' &&
      last.itemId === payload.itemId &&
      (last.patch ?? payload.patch) === undefined;
    if (!goesOn) all.push(draft);
    else {
      const deltaContent = last.deltaContent + payload.deltaContent;
      all.splice(-1, 1, { ...draft, payload: { ...last, deltaContent } });
    }
  }
  return all;
}

test.each<[string, (name: string) => Promise<EventDraft[]>, string[]]>([
  [
    'claude-code',
    claude,
    ['thinking', 'tool-edit', 'tool-bash-fails', 'subagent', 'task-list', 'compact', 'retry-cut'],
  ],
  [
    'codex',
    codex,
    [
      'reasoning',
      'commands-parallel',
      'patch-update',
      'plan',
      'permission-allowed',
      'compact',
      'cut',
    ],
  ],
  ['acp', adapter, ['words', 'tools', 'failed']],
  ['demo', demo, ['fix', 'approve', 'plan', 'subagent']],
])(
  'FR-039-01, AS-039-1: the updates for recorded turns of %s are the same as before',
  async (agent, play, names) => {
    for (const name of names) {
      const lines = runsOf(await play(name))
        .flatMap((events) =>
          updatesIn(foldCheckedEvents(events, { shows: showsAll, isOwn: true }).updates),
        )
        .map((update) => `${JSON.stringify(update)}\n`);
      await expect(lines.join('')).toMatchFileSnapshot(`snapshots/${agent}-${name}.jsonl`);
    }
  },
);
