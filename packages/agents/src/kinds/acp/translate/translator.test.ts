import { describe, expect, test } from 'vitest';
import { foldTurn, itemsOf, payloadsOf, textsIn, upsertsOf } from '../../../testing/folding.ts';
import { recordTurn, startTranslator, timestamp } from './testing/recorded-translator.ts';

const say = (text: string) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
});

describe('turns', () => {
  test('a turn begins with the user’s whole message', () => {
    const { drafts } = recordTurn([]);
    expect(payloadsOf(drafts, 'turn')).toMatchObject([
      { type: 'response_start', providerId: 'scripted', trigger: 'user' },
      { type: 'item_start', itemId: 'turn:user', origin: 'user' },
      { type: 'item_done', finalItem: { content: 'Do it.', origin: 'user' } },
      { type: 'response_done' },
    ]);
  });

  test('TC-4.2a: a turn shows an agent_message_chunk as a message with all of its text so far', () => {
    const { drafts } = recordTurn([
      say('one two three four five six '),
      say('seven eight nine ten '),
      say('eleven. '),
      say('twelve.'),
    ]);
    const shown = upsertsOf(drafts).flatMap((upsert) =>
      upsert.type === 'message' && upsert.origin === 'agent'
        ? [[upsert.status, upsert.content]]
        : [],
    );
    const all = 'one two three four five six seven eight nine ten eleven. ';
    expect(shown).toEqual([
      ['create', all],
      ['complete', `${all}twelve.`],
    ]);
  });

  test.each([
    ['end_turn', 'completed'],
    ['max_tokens', 'completed'],
    ['max_turn_requests', 'completed'],
    ['refusal', 'completed'],
    ['cancelled', 'cancelled'],
    ['something_new', 'completed'],
  ])('a turn that stops with %s ends as %s', (stopReason, status) => {
    const { drafts, translator } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    translator.finish({ stopReason }, timestamp);
    expect(drafts.at(-1)?.payload).toEqual({
      type: 'response_done',
      status,
      finishReason: stopReason,
    });
    expect(translator.turn).toBeUndefined();
  });

  test('a turn ends with the token counts of the agent’s answer', () => {
    const { drafts, translator } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    const usage = {
      totalTokens: 9,
      inputTokens: 5,
      outputTokens: 3,
      cachedReadTokens: 1,
      cachedWriteTokens: null,
    };
    translator.finish({ stopReason: 'end_turn', usage }, timestamp);
    expect(drafts.at(-1)?.payload).toMatchObject({
      usage: { inputTokens: 6, outputTokens: 3, cacheReadInputTokens: 1 },
    });
  });

  test('a turn names the current model if the settings have one', () => {
    const { translator, drafts } = startTranslator();
    translator.begin('one', 'First.', timestamp);
    translator.settings({ models: { currentModelId: 'large', availableModels: [] } });
    translator.begin('two', 'Second.', timestamp);
    const [before] = payloadsOf(drafts, 'one');
    expect(before).toMatchObject({ type: 'response_start', modelId: 'unknown' });
    expect(payloadsOf(drafts, 'two')[0]).toMatchObject({ modelId: 'large' });
  });

  test('the events of a turn have the times of their updates', () => {
    const { translator, drafts } = startTranslator();
    const at = (second: number) => new Date(second * 1_000).toISOString();
    translator.begin('turn', 'Do it.', at(1));
    translator.read(say('Hi.'), at(2));
    translator.read({ sessionUpdate: 'usage_update', used: 1 }, at(3));
    translator.openApproval({ approvalId: 'a', title: 'May I?', options: [] }, at(4));
    translator.closeApproval('a', { outcome: 'cancelled' }, at(5));
    translator.stop(at(6));
    translator.finish({ stopReason: 'cancelled' }, at(7));
    const times = drafts.map((draft) => Date.parse(draft.timestamp) / 1_000);
    expect(times).toEqual([1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 7]);
  });

  test('a turn ends even if the agent’s answer is not valid', () => {
    for (const response of [null, 'done', {}, { stopReason: 7 }]) {
      const { drafts, translator } = startTranslator();
      translator.begin('turn', 'Do it.', timestamp);
      translator.finish(response, timestamp);
      expect(drafts.at(-1)?.payload).toMatchObject({ type: 'response_done', finishReason: null });
    }
  });

  test('a turn that ends with an error keeps its text, and the text’s item has the error', () => {
    const { drafts, translator, send } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    send(say('Half of '), { sessionUpdate: 'hologram' });
    const error = { code: 'PROCESS_CRASH', message: 'It is gone.' };
    translator.end({ type: 'response_error', error }, timestamp);
    const response = foldTurn(drafts, 'turn');
    expect(response).toMatchObject({ status: 'error', error });
    expect(response.outputItems.at(-1)).toMatchObject({
      content: 'Half of ',
      error,
      raw: [{ sessionUpdate: 'hologram' }],
    });
  });

  test('a turn that ends with an error keeps an image that has no text', () => {
    const { drafts, translator, send } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
    send({ sessionUpdate: 'agent_message_chunk', content: image });
    const error = { code: 'PROCESS_CRASH', message: 'It is gone.' };
    translator.end({ type: 'response_error', error }, timestamp);
    expect(foldTurn(drafts, 'turn').outputItems.at(-1)).toMatchObject({ blocks: [image] });
  });

  test('a turn shows once that the user asked to stop it', () => {
    const { drafts, translator } = startTranslator();
    translator.stop(timestamp);
    translator.begin('turn', 'Do it.', timestamp);
    translator.stop(timestamp);
    translator.stop(timestamp);
    translator.finish({ stopReason: 'cancelled' }, timestamp);
    expect(payloadsOf(drafts, 'turn').slice(3)).toMatchObject([
      { type: 'turn_aborted_by_user', reason: 'The user asked to stop.' },
      { type: 'response_done' },
    ]);
  });

  test('a turn ends before the next turn begins', () => {
    const { drafts, translator } = startTranslator();
    translator.begin('one', 'First.', timestamp);
    translator.begin('two', 'Second.', timestamp);
    expect(foldTurn(drafts, 'one').status).toBe('complete');
    expect(translator.turn).toEqual({ turnId: 'two', trigger: 'user' });
  });
});

describe('outside a turn', () => {
  test('text begins a turn of the agent’s own, which the next message ends', () => {
    const { drafts, translator, send } = startTranslator();
    send(say('I am '), say('back.'));
    expect(translator.turn).toEqual({ turnId: 'own-1', trigger: 'agent' });
    translator.begin('turn', 'Do it.', timestamp);
    const own = foldTurn(drafts, 'own-1');
    expect(own).toMatchObject({ status: 'complete', trigger: 'agent' });
    expect(own.outputItems).toMatchObject([{ content: 'I am back.', origin: 'agent' }]);
  });

  test('settings, titles, usage and unknown updates begin no turn', () => {
    const { drafts, translator, send } = startTranslator();
    send(
      { sessionUpdate: 'available_commands_update', availableCommands: [] },
      { sessionUpdate: 'session_info_update', title: 'A title', _meta: { x: 1 } },
      { sessionUpdate: 'usage_update', used: 10, size: 100 },
      { sessionUpdate: 'hologram' },
      null,
      'noise',
    );
    translator.closeApproval('a', { outcome: 'cancelled' }, timestamp);
    translator.terminalOutput('t', 'hi', timestamp);
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    expect(drafts).toEqual([]);
  });

  test('a permission request without a call is kept for the next turn', () => {
    const { drafts, translator, send } = startTranslator();
    translator.toolCall({ title: 'What?' }, timestamp);
    translator.toolCall(null, timestamp);
    send(say('Hi.'));
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    const [message] = foldTurn(drafts, 'own-1').outputItems;
    expect(message).toMatchObject({ content: 'Hi.', raw: [{ title: 'What?' }] });
  });

  test('invalid updates and a title’s other fields are kept for the next turn', () => {
    const { drafts, translator, send } = startTranslator();
    send('noise', null, { sessionUpdate: 'session_info_update', title: 'A', _meta: { x: 1 } });
    send(say('Hi.'));
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    expect(foldTurn(drafts, 'own-1').outputItems[0]?.raw).toEqual(['noise', { _meta: { x: 1 } }]);
  });

  test('usage is reported only in the next turn', () => {
    const { drafts, translator, send } = startTranslator();
    send({ sessionUpdate: 'usage_update', used: 10, size: 100 });
    translator.begin('one', 'First.', timestamp);
    translator.begin('two', 'Second.', timestamp);
    const counts = (turnId: string) =>
      payloadsOf(drafts, turnId).filter(({ type }) => type === 'usage_update').length;
    expect([counts('one'), counts('two')]).toEqual([1, 0]);
  });

  test('usage and unknown updates that arrive before a turn are part of the turn; unknown updates are kept with its last message', () => {
    const { drafts, translator, send } = startTranslator();
    send({ sessionUpdate: 'usage_update', used: 10, size: 100 }, { sessionUpdate: 'hologram' });
    translator.begin('turn', 'Do it.', timestamp);
    send(say('Done.'));
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    const response = foldTurn(drafts, 'turn');
    expect(response.usage).toMatchObject({ contextTokens: 10, contextWindow: 100 });
    expect(response.outputItems.at(-1)).toMatchObject({
      content: 'Done.',
      raw: [{ sessionUpdate: 'hologram' }],
    });
  });
});

describe('beside the conversation', () => {
  test('a title is reported for the session, and its other fields are kept with the next item', () => {
    const info = { sessionUpdate: 'session_info_update', title: 'A title', updatedAt: timestamp };
    const { drafts, updates } = recordTurn([{ ...info, _meta: { x: 1 } }, say('Hi.')]);
    expect(updates).toEqual([{ title: 'A title' }]);
    expect(foldTurn(drafts, 'turn').outputItems.at(-1)?.raw).toEqual([{ _meta: { x: 1 } }]);
  });

  test('an update with only a title adds no raw value', () => {
    const title = { sessionUpdate: 'session_info_update', title: 'A title' };
    const { drafts } = recordTurn([title, say('Hi.')]);
    expect(foldTurn(drafts, 'turn').outputItems.at(-1)).not.toHaveProperty('raw');
  });

  test('session info without a title changes no title', () => {
    const { drafts, updates } = recordTurn([
      { sessionUpdate: 'session_info_update', _meta: { x: 1 } },
    ]);
    expect(updates).toEqual([]);
    expect(foldTurn(drafts, 'turn').outputItems).toHaveLength(1);
  });

  test('commands are reported for the session; unreadable commands are kept as raw values', () => {
    const odd = { sessionUpdate: 'available_commands_update', availableCommands: 7 };
    const { drafts, updates } = recordTurn([
      say('Hi.'),
      { ...odd, availableCommands: [{ name: 'plan', description: 'Plan.' }] },
      odd,
    ]);
    expect(updates).toEqual([{ commands: [{ name: 'plan', description: 'Plan.' }] }]);
    expect(foldTurn(drafts, 'turn').outputItems.at(-1)?.raw).toEqual([odd]);
  });

  test('a change of mode or of an option is reported as the session’s settings', () => {
    const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'code' }] };
    const { translator, drafts, updates, send } = startTranslator();
    translator.settings({ modes });
    translator.settings({});
    send({ sessionUpdate: 'current_mode_update', currentModeId: 'code' });
    const option = { id: 'model', currentValue: 'large', options: [] };
    send({ sessionUpdate: 'config_option_update', configOptions: [option] });
    expect(updates).toMatchObject([
      { configOptions: [{ currentValue: 'ask' }] },
      { configOptions: [{ currentValue: 'code' }] },
      { configOptions: [{ currentValue: 'large' }, { currentValue: 'code' }] },
    ]);
    send(say('Hi.'));
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    expect(foldTurn(drafts, 'own-1').outputItems[0]).not.toHaveProperty('raw');
  });

  test('usage has the context in use and the session’s cost', () => {
    const cost = { amount: 0.5, currency: 'USD' };
    const { drafts } = recordTurn([
      { sessionUpdate: 'usage_update', used: 10, size: 100, cost },
      { sessionUpdate: 'usage_update', used: 20, size: 100, cost: null },
    ]);
    expect(foldTurn(drafts, 'turn').usage).toEqual({
      inputTokens: 0,
      outputTokens: 0,
      contextTokens: 20,
      contextWindow: 100,
      costUsd: 0.5,
    });
  });

  test('usage does not divide a message', () => {
    const usage = { sessionUpdate: 'usage_update', used: 1, size: 10 };
    const { drafts } = recordTurn([say('I change '), usage, say('it.'), usage]);
    expect(textsIn(foldTurn(drafts, 'turn'))).toEqual([['agent', 'I change it.']]);
  });

  test('a cost in another currency is kept as a raw value', () => {
    const cost = { amount: 3, currency: 'EUR' };
    const { drafts } = recordTurn([say('Hi.'), { sessionUpdate: 'usage_update', used: 1, cost }]);
    const response = foldTurn(drafts, 'turn');
    expect(response.usage).not.toHaveProperty('costUsd');
    expect(response.outputItems.at(-1)).toMatchObject({ raw: [{ cost }] });
  });

  test('a plan is one item, whose entries are replaced', () => {
    const plan = (...statuses: string[]) => ({
      sessionUpdate: 'plan',
      entries: statuses.map((status, index) => ({
        content: `Step ${index}`,
        priority: 'high',
        status,
      })),
    });
    const { drafts } = recordTurn([
      plan(),
      plan('pending'),
      plan('completed', 'odd'),
      plan('completed', 'odd'),
      say('Hi.'),
    ]);
    const response = foldTurn(drafts, 'turn');
    expect(itemsOf(response, 'plan')).toMatchObject([
      {
        entries: [
          { content: 'Step 0', priority: 'high', status: 'completed' },
          { content: 'Step 1', priority: 'high', status: 'pending' },
        ],
      },
    ]);
    const patches = drafts.filter(({ payload }) => payload.type === 'item_delta' && payload.patch);
    expect(patches).toHaveLength(2);
  });

  test('a notice is a system message', () => {
    const notice = (fields: object) => ({ sessionUpdate: 'notice', ...fields });
    const { drafts } = recordTurn([
      notice({ severity: 'info', title: 'Signed in' }),
      notice({ severity: 'warning', title: 'No MCP', description: 'It did not start.' }),
      notice({ severity: 'cosmic', title: 'Odd' }),
      notice({ severity: 'info', title: '' }),
    ]);
    const response = foldTurn(drafts, 'turn');
    expect(textsIn(response)).toEqual([
      ['system', 'Signed in'],
      ['system', 'Warning: No MCP\n\nIt did not start.'],
      ['system', 'Odd'],
    ]);
    expect(response.outputItems.at(-1)).toMatchObject({ raw: [{ severity: 'cosmic' }] });
  });

  test('an unknown update stays with the nearest item', () => {
    const { drafts } = recordTurn([
      say('Look: '),
      { sessionUpdate: 'hologram', x: 1 },
      say('there.'),
    ]);
    expect(foldTurn(drafts, 'turn').outputItems.at(-1)).toMatchObject({
      content: 'Look: there.',
      raw: [{ sessionUpdate: 'hologram', x: 1 }],
    });
  });

  test('an unknown update gets an item of its own if the turn has no item', () => {
    const { drafts } = recordTurn([{ sessionUpdate: 'hologram' }, [1], 'noise']);
    expect(foldTurn(drafts, 'turn').outputItems.at(-1)).toMatchObject({
      origin: 'system',
      raw: [{ sessionUpdate: 'hologram' }, [1], 'noise'],
    });
  });

  test('metadata of the agent’s answer gets no item, but is kept for the next turn', () => {
    const { drafts, translator, send } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    translator.finish({ stopReason: 'end_turn', _meta: { x: 1 } }, timestamp);
    expect(foldTurn(drafts, 'turn').outputItems).toHaveLength(1);
    translator.begin('next', 'And now?', timestamp);
    send(say('Done.'));
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    expect(foldTurn(drafts, 'next').outputItems.at(-1)).toMatchObject({
      raw: [{ _meta: { x: 1 } }],
    });
  });

  test('beyond a limit, unknown updates are only counted', () => {
    const flood = Array.from({ length: 3_000 }, (_, x) => ({ sessionUpdate: 'hologram', x }));
    const raw = (turnId: string, drafts: ReturnType<typeof startTranslator>['drafts']) =>
      foldTurn(drafts, turnId).outputItems.at(-1)?.raw as unknown[];
    const inTurn = raw('turn', recordTurn(flood).drafts);
    expect(inTurn).toHaveLength(1_001);
    expect(inTurn.at(-1)).toEqual({ omitted: 2_000 });
    const { drafts, translator, send } = startTranslator();
    send(...flood);
    translator.begin('turn', 'Do it.', timestamp);
    send(say('Hi.'));
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    expect(raw('turn', drafts)).toEqual([...flood.slice(-100), { omitted: 2_900 }]);
  });
});
