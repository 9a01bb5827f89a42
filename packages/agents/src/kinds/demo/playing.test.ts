import { tmpdir } from 'node:os';
import { emptyResponse, foldResponse, toResponse, type OutputItem } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DriverProvider } from '../../base/driver-provider.ts';
import type { SessionUpdate } from '../../contract/provider.ts';
import { expectWholeTurn, Watch } from '../../testing/watch.ts';
import { chooseScene, scenes } from './choose-scene.ts';
import { DemoDriver } from './index.ts';

const projectDir = tmpdir();

/** Plays one message to its end and allows every request. */
async function play(message: string): Promise<OutputItem[]> {
  const provider = new DriverProvider(new DemoDriver({ speed: Infinity }));
  const watch = new Watch(provider, 's1');
  await provider.createSession({ projectDir, sessionId: 's1' });
  provider.onEvent('s1', ({ payload }) => {
    if (payload.type !== 'item_start' || payload.itemType !== 'approval') return;
    void provider.answerApproval?.('s1', payload.itemId, { optionId: 'allow' });
  });
  const { turnId } = await provider.sendMessage('s1', message);
  const events = await watch.ended(turnId);
  await provider.close();
  expectWholeTurn(events);
  return toResponse(events.reduce(foldResponse, emptyResponse()))?.outputItems ?? [];
}

describe('every scene', () => {
  test.each(scenes.map(({ name }) => name))(
    '%s: can be played to its end, and the first message says that this is a demo',
    async (name) => {
      const items = await play(`/${name}`);

      const said = items.find((item) => item.type === 'message' && item.origin === 'agent');
      expect(said).toMatchObject({ content: expect.stringMatching(/\bdemo\b/i) });
      const calls = items.filter((item) => item.type === 'function_call');
      const outputs = items.filter((item) => item.type === 'function_call_output');
      expect(outputs.map(({ callId }) => callId).toSorted()).toEqual(
        calls.map(({ callId }) => callId).toSorted(),
      );
    },
  );

  test('is found by its name, and has a description', () => {
    for (const scene of scenes) {
      expect(chooseScene(`/${scene.name}`, 5)).toBe(scene);
      expect(scene.description).toMatch(/^[A-Z].*[^.]$/);
    }
  });
});

describe('the demo as a whole', () => {
  test('shows each kind of item and tool', async () => {
    const items = (await Promise.all(scenes.map(({ name }) => play(name)))).flat();

    expect(new Set(items.map(({ type }) => type))).toEqual(
      new Set([
        'message',
        'reasoning',
        'function_call',
        'function_call_output',
        'plan',
        'approval',
      ]),
    );
    const kinds = items.map((item) => (item.type === 'function_call' ? item.kind : undefined));
    expect(new Set(kinds)).toEqual(
      new Set(['read', 'search', 'edit', 'execute', 'think', undefined]),
    );
    expect(items.some(({ parentCallId }) => parentCallId !== undefined)).toBe(true);
    expect(items.some(({ error }) => error?.code === 'MODEL_UNAVAILABLE')).toBe(true);
  });

  test('plays the tour first, then the scenes in order, unless a message asks for a scene', () => {
    const names = Array.from({ length: 10 }, (_, turns) => chooseScene('Do something', turns).name);

    expect(names).toEqual([
      'tour',
      'fix',
      'plan',
      'approve',
      'ask',
      'build',
      'subagent',
      'explain',
      'long',
      'fix',
    ]);
    expect(chooseScene('Could you PLAN this?', 0).name).toBe('plan');
    expect(chooseScene('Ask for my approval.', 3).name).toBe('approve');
    expect(chooseScene('an explanation of belongings', 1).name).toBe('fix');
  });

  test('completes its plan step by step', async () => {
    const items = await play('plan');

    const entries = items.find((item) => item.type === 'plan')?.entries ?? [];
    expect(entries.length).toBeGreaterThan(2);
    expect(entries.every(({ status }) => status === 'completed')).toBe(true);
  });

  test('shows the diffs of an edit', async () => {
    const items = await play('fix');

    const edits = items.filter((item) => item.type === 'function_call' && item.kind === 'edit');
    expect(edits.length).toBeGreaterThan(0);
    for (const edit of edits) {
      const [diff] = edit.type === 'function_call' ? (edit.diffs ?? []) : [];
      expect(diff?.newText).not.toBe(diff?.oldText);
    }
  });
});

test('a refused permission is shown as refused, and the tool does not run', async () => {
  const provider = new DriverProvider(new DemoDriver({ speed: Infinity }));
  const watch = new Watch(provider, 's1');
  await provider.createSession({ projectDir, sessionId: 's1' });
  const { turnId } = await provider.sendMessage('s1', 'approve');
  const request = await watch.until(() => watch.upserts.find(({ type }) => type === 'approval'));

  await provider.answerApproval?.('s1', request.itemId, { optionId: 'reject' });

  const events = await watch.ended(turnId);
  const items = toResponse(events.reduce(foldResponse, emptyResponse()))?.outputItems ?? [];
  expect(items.findLast((item) => item.type === 'function_call_output')).toMatchObject({
    success: false,
    output: expect.stringContaining('not allow'),
  });
  expect(items.at(-1)).toMatchObject({ content: expect.stringContaining('You refused it') });
  await provider.close();
});

test('the note of a refusal is stored with the question; an option without notes rejects a note', async () => {
  const provider = new DriverProvider(new DemoDriver({ speed: Infinity }));
  const watch = new Watch(provider, 's1');
  await provider.createSession({ projectDir, sessionId: 's1' });
  const { turnId } = await provider.sendMessage('s1', 'approve');
  const request = await watch.until(() => watch.upserts.find(({ type }) => type === 'approval'));
  const answer = (optionId: string) =>
    provider.answerApproval?.('s1', request.itemId, { optionId, note: ' Not on a Friday. ' });

  await expect(answer('allow')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('takes no note with “Allow”'),
  });
  await answer('reject');

  const events = await watch.ended(turnId);
  const items = toResponse(events.reduce(foldResponse, emptyResponse()))?.outputItems ?? [];
  expect(items.find(({ type }) => type === 'approval')).toMatchObject({
    outcome: { outcome: 'selected', optionId: 'reject', note: 'Not on a Friday.' },
  });
  await provider.close();
});

describe('a form', () => {
  /** Plays the scene `ask` up to its question. */
  async function untilAsked() {
    const provider = new DriverProvider(new DemoDriver({ speed: Infinity }));
    const watch = new Watch(provider, 's1');
    await provider.createSession({ projectDir, sessionId: 's1' });
    const { turnId } = await provider.sendMessage('s1', 'ask');
    const asked = await watch.until(() => watch.upserts.find(({ type }) => type === 'approval'));
    const end = async () => {
      const events = await watch.ended(turnId);
      await provider.close();
      return toResponse(events.reduce(foldResponse, emptyResponse()))?.outputItems ?? [];
    };
    return { provider, asked, end };
  }

  test('is shown to the user, and its answer is stored with the question', async () => {
    const { provider, asked, end } = await untilAsked();
    expect(asked).toMatchObject({ form: { required: ['version', 'channel', 'targets'] } });
    const content = { version: '2.4.1', channel: 'next', targets: ['linux'], sign: false };

    await provider.answerApproval?.('s1', asked.itemId, { optionId: 'allow', content });

    const items = await end();
    expect(items.find(({ type }) => type === 'approval')).toMatchObject({
      outcome: { outcome: 'selected', optionId: 'allow', content },
    });
    expect(items.at(-1)).toMatchObject({ content: expect.stringContaining('your answers') });
  });

  test('that is declined ends its scene early', async () => {
    const { provider, asked, end } = await untilAsked();

    await provider.answerApproval?.('s1', asked.itemId, { optionId: 'reject' });

    const items = await end();
    expect(items.some(({ type }) => type === 'function_call')).toBe(false);
    expect(items.at(-1)).toMatchObject({ content: expect.stringContaining('You declined') });
  });
});

test('a command’s output grows in pieces; each state of a line that is overwritten is a piece', async () => {
  const provider = new DriverProvider(new DemoDriver({ speed: Infinity }));
  const watch = new Watch(provider, 's1');
  await provider.createSession({ projectDir, sessionId: 's1' });
  const { turnId } = await provider.sendMessage('s1', 'build');
  const events = await watch.ended(turnId);
  await provider.close();
  const items = toResponse(events.reduce(foldResponse, emptyResponse()))?.outputItems ?? [];
  const result = items.find((item) => item.type === 'function_call_output');
  const pieces = events.flatMap(({ payload }) =>
    payload.type === 'item_delta' && payload.itemId === result?.id ? [payload.deltaContent] : [],
  );

  expect(pieces.length).toBeGreaterThan(60);
  expect(pieces.filter((piece) => piece.endsWith('\r')).length).toBeGreaterThan(20);
  expect(result).toMatchObject({ output: pieces.join(''), exitCode: 0 });
});

test.each(['half of a text', 'its end'])(
  'INV-2: if a listener cancels the turn at %s, the turn ends once',
  async (when) => {
    const provider = new DriverProvider(new DemoDriver({ speed: Infinity }));
    const watch = new Watch(provider, 's1');
    await provider.createSession({ projectDir, sessionId: 's1' });
    const cancelAt = [when === 'its end' ? 'item_error' : 'item_delta', 'turn_aborted_by_user'];
    let cancelled = 0;
    provider.onEvent('s1', ({ payload }) => {
      if (!cancelAt.includes(payload.type)) return;
      cancelled += 1;
      void provider.cancelTurn('s1');
    });

    const { turnId } = await provider.sendMessage('s1', 'error');

    expectWholeTurn(await watch.ended(turnId));
    expect(cancelled).toBeGreaterThan(0);
    await provider.close();
  },
);

describe('the pace', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns how long a scene plays, ms. */
  async function duration(message: string, speed: number, pace: string): Promise<number> {
    const provider = new DriverProvider(new DemoDriver({ speed }));
    const watch = new Watch(provider, 's1');
    await provider.createSession({ projectDir, sessionId: 's1', config: { pace } });
    await provider.sendMessage('s1', message);
    await vi.runAllTimersAsync();
    expect(watch.turns.at(-1)).toMatchObject({ type: 'turn_complete' });
    await provider.close();
    const [first, last] = [watch.events[0]?.timestamp, watch.events.at(-1)?.timestamp];
    return Date.parse(last ?? '') - Date.parse(first ?? '');
  }

  test('is not affected if the clock is set back by a day during a turn', async () => {
    const provider = new DriverProvider(new DemoDriver({ speed: 1 }));
    const watch = new Watch(provider, 's1');
    await provider.createSession({ projectDir, sessionId: 's1', config: { pace: 'normal' } });
    await provider.sendMessage('s1', 'explain');
    await vi.advanceTimersByTimeAsync(1_000);
    vi.setSystemTime(Date.now() - 86_400_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(watch.turns.at(-1)).toMatchObject({ type: 'turn_complete' });
    await provider.close();
  });

  test('equals the pace of the recording, multiplied by the speed', async () => {
    const normal = await duration('explain', 1, 'normal');

    expect(normal).toBeGreaterThan(5_000);
    expect(normal).toBeLessThan(30_000);
    expect(await duration('explain', 10, 'normal')).toBeLessThan(normal / 9 + 100);
    expect(await duration('explain', 1, 'fast')).toBeLessThan(normal / 3.9 + 100);
    expect(await duration('explain', 1, 'instant')).toBeLessThan(100);
  });

  test('leaves a minute to stop the slow scene', async () => {
    expect(await duration('slow', 1, 'normal')).toBeGreaterThan(60_000);
  });

  test('can be changed during a turn', async () => {
    const provider = new DriverProvider(new DemoDriver());
    const watch = new Watch(provider, 's1');
    await provider.createSession({ projectDir, sessionId: 's1' });
    await provider.sendMessage('s1', 'long');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(watch.turns.map(({ type }) => type)).toEqual(['turn_started']);

    await provider.setConfigOption?.('s1', 'pace', 'instant');
    await vi.advanceTimersByTimeAsync(100);

    expect(watch.turns.map(({ type }) => type)).toEqual(['turn_started', 'turn_complete']);
    await provider.close();
  });

  test('streams single words with short delays', async () => {
    const provider = new DriverProvider(new DemoDriver());
    const watch = new Watch(provider, 's1');
    await provider.createSession({ projectDir, sessionId: 's1' });
    await provider.sendMessage('s1', 'long');
    await vi.advanceTimersByTimeAsync(3_000);

    const times = watch.events
      .filter(({ payload }) => payload.type === 'item_delta')
      .map(({ timestamp }) => Date.parse(timestamp));
    expect(times.length).toBeGreaterThan(60);
    expect(Math.max(...times.slice(1).map((time, i) => time - (times[i] ?? 0)))).toBeLessThan(50);
    await provider.close();
  });
});

describe('a session of the demo', () => {
  const open = async () => {
    const provider = new DriverProvider(new DemoDriver());
    const updates: SessionUpdate[] = [];
    provider.onUpdate('s1', (update) => updates.push(update));
    return { provider, updates };
  };

  test('reports its scenes as commands and its pace as a setting', async () => {
    const { provider, updates } = await open();

    await provider.createSession({ projectDir, sessionId: 's1', config: { pace: 'fast' } });

    await expect.poll(() => updates).toHaveLength(1);
    expect(updates[0]?.commands?.map(({ name }) => name)).toContain('approve');
    expect(updates[0]?.configOptions).toMatchObject([{ id: 'pace', currentValue: 'fast' }]);
  });

  test('reports a change of its pace, and rejects an unknown pace', async () => {
    const { provider, updates } = await open();
    await provider.createSession({ projectDir, sessionId: 's1' });
    await expect.poll(() => updates).toHaveLength(1);

    await provider.setConfigOption?.('s1', 'pace', 'instant');
    expect(updates.at(-1)?.configOptions).toMatchObject([{ currentValue: 'instant' }]);

    await expect(provider.setConfigOption?.('s1', 'pace', 'toString')).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    });
    await expect(provider.setConfigOption?.('s1', 'model', 'fast')).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    });
  });

  test('can be loaded if an earlier server began the session, and then does not begin with the tour', async () => {
    const provider = new DriverProvider(new DemoDriver({ speed: Infinity }));
    const watch = new Watch(provider, 's1');

    await provider.loadSession('s1', { projectDir });

    const { turnId } = await provider.sendMessage('s1', 'Go on');
    const items = toResponse((await watch.ended(turnId)).reduce(foldResponse, emptyResponse()));
    expect(JSON.stringify(items)).not.toContain('This is Liminal’s');
    await provider.close();
  });

  test('is described as a demo', async () => {
    expect(await new DriverProvider(new DemoDriver()).describe()).toMatchObject({
      cliType: 'demo',
      name: 'Demo',
      demo: true,
      available: true,
      description: expect.stringContaining('without a key'),
    });
  });
});
