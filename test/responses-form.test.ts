/** Converts every recorded turn of a real agent, and every scene of the demo, to the format of seed 001. */
import { tmpdir } from 'node:os';
import { DriverProvider } from '@liminal/agents';
import { DemoDriver } from '@liminal/agents/demo';
import {
  emptyResponse,
  type EventDraft,
  foldResponse,
  stampEvent,
  toResponse,
  toResponsesEvent,
  toResponsesResponse,
} from '@liminal/protocol';
import { seed001Event, seed001Response } from '@liminal/protocol/testing';
import {
  claudeRecordingNames,
  codexRecordingNames,
  loadClaudeRecording,
  loadCodexRecording,
} from '@liminal/testkit';
import { expect, test } from 'vitest';
import { turnOf as acpTurn } from '../packages/agents/src/kinds/acp/translate/testing/recorded-translator.ts';
import {
  startTranslator,
  timestamp,
} from '../packages/agents/src/kinds/claude-code/translate/testing/recorded-translator.ts';
import { Watch } from '../packages/agents/src/testing/watch.ts';
import { loadAdapterRecording } from '../packages/agents/test/acp/record-codex-adapter.ts';
import { playRecording } from '../packages/agents/test/codex/play-recording.ts';
import { uuidOf } from '../packages/server/src/sse/uuid-of.ts';

async function claude(name: string): Promise<EventDraft[]> {
  const { translator, all } = startTranslator();
  let turns = 0;
  for (const entry of (await loadClaudeRecording(name)).entries) {
    if ('sdk' in entry) translator.read(entry.sdk, timestamp);
    else if (entry.host.action === 'interrupt') translator.stop(timestamp);
    else if (entry.host.action === 'send') {
      translator.expect({ ...entry.host, turnId: `turn-${++turns}` });
    }
  }
  return all;
}

async function codex(name: string): Promise<EventDraft[]> {
  const sessions = await playRecording(await loadCodexRecording(name));
  return sessions.flatMap(({ drafts, history }) => [
    ...drafts,
    ...history.flatMap(({ events }) => events),
  ]);
}

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
  return drafts;
}

const scenes = ['approve', 'error', 'explain', 'fix', 'plan', 'subagent', 'tools'];
const recorded = [
  ...(await claudeRecordingNames()).map((name) => ({ agent: 'Claude Code', play: claude, name })),
  ...(await codexRecordingNames()).map((name) => ({ agent: 'Codex', play: codex, name })),
  ...Object.keys(loadAdapterRecording()).map((name) => ({ agent: 'ACP', play: adapter, name })),
  ...scenes.map((name) => ({ agent: 'demo', play: demo, name })),
];

test.each(recorded)(
  'the turn $name of $agent has the format of seed 001',
  async ({ play, name }) => {
    const turns = Map.groupBy(await play(name), ({ turnId }) => turnId);
    for (const [runId, drafts] of turns) {
      const traceparent = `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01`;
      const run = { sessionId: 's', runId, traceContext: { traceparent } };
      const events = drafts.map((draft, seq) => stampEvent(draft, run, seq));
      for (const event of events) {
        const told = toResponsesEvent(event, uuidOf);
        expect(seed001Event.parse(told)).toEqual(told);
      }
      const response = toResponse(events.reduce(foldResponse, emptyResponse()));
      if (response === undefined) continue;
      const whole = toResponsesResponse(response, uuidOf);
      expect(seed001Response.parse(whole)).toEqual(whole);
    }
  },
);
