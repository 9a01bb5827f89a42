import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { pixel } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { withConcessions, isThought, type Loss, type Rule } from './concessions.ts';

const says = (origin: 'user' | 'agent', content: string): OutputItem => ({
  type: 'message',
  id: content,
  origin,
  content,
});
const thinks = (id: string, raw?: object): OutputItem => ({
  type: 'reasoning',
  id,
  content: 'hm',
  origin: 'agent',
  ...(raw !== undefined && { raw }),
});
const call = (callId: string): OutputItem => ({
  type: 'function_call',
  id: callId,
  callId,
  name: 'f',
  arguments: '{}',
  origin: 'agent',
});
const output = (callId: string): OutputItem => ({
  type: 'function_call_output',
  id: `${callId}:output`,
  callId,
  output: callId,
  success: true,
  origin: 'tool_harness',
});

const following = (rule: Rule, ...conversation: OutputItem[]): readonly OutputItem[] =>
  withConcessions(conversation, { has: (one) => one === rule, loses: () => false });

const sides = (items: readonly OutputItem[]): string[] =>
  items.map((item) => (item.type === 'message' ? `${item.origin}: ${item.content}` : item.type));

test('only the thinking that the server refuses is left out', () => {
  const conversation = [
    says('user', 'a'),
    thinks('1', { anthropic: { type: 'thinking', signature: 's' } }),
    thinks('2', [{ anthropic: { type: 'redacted_thinking', data: 'x' } }]),
    thinks('3', { openai: { encrypted_content: 'e' } }),
    thinks('4', { anthropic: { type: 'of tomorrow' } }),
    says('agent', 'b'),
  ];
  const lost = new Set<unknown>(conversation.filter(isThought));
  const left = withConcessions(conversation, {
    has: () => false,
    loses: (loss, from) => loss === 'thought' && lost.has(from),
  });
  expect(left.map(({ id }) => id)).toEqual(['a', '4', 'b']);
});

test('a conversation that needs no concession has the same items afterwards', () => {
  const conversation = [says('user', 'a'), call('c'), output('c'), says('agent', 'b')];
  const sent = withConcessions(conversation, { has: () => false, loses: () => false });
  for (const [index, item] of conversation.entries()) expect(sent[index]).toBe(item);
});

test('a conversation begins and ends with the user, and a message of the model separates a tool’s output from a user message', () => {
  const conversation = [says('agent', 'a'), call('c'), output('c'), says('user', 'b')];
  expect(sides(following('turns', ...conversation, says('agent', 'd')))).toEqual([
    'user: (No message.)',
    'agent: a',
    'function_call',
    'function_call_output',
    'agent: I have the result.',
    'user: b',
    'agent: d',
    'user: (Go on.)',
  ]);
});

test('each call gets a short id of its own, and its output gets the same id', () => {
  const items = [
    call('c'),
    output('c'),
    call('a1B2c3D4e'),
    output('a1B2c3D4e'),
    call('c'),
    output('c'),
  ];
  const sent = following('ids', ...items).flatMap((item) => ('callId' in item ? item.callId : []));
  const [first, , own, , again] = sent;
  expect(sent).toEqual([first, first, own, own, again, again]);
  expect(own).toBe('a1B2c3D4e');
  expect(again).not.toBe(first);
  for (const id of sent) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
});

const losing = (
  loss: Loss,
  lost: readonly (OutputItem | ContentBlock)[],
  conversation: readonly OutputItem[],
): readonly OutputItem[] =>
  withConcessions(conversation, {
    has: () => false,
    loses: (one, from) => one === loss && lost.includes(from),
  });

test('an item that loses the fields of its maker has no raw data; a reasoning item without these fields is left out', () => {
  const raw = { openai: { id: 'x' } };
  const said = { ...says('agent', 'a'), raw };
  const other = { ...says('agent', 'b'), raw };
  const plain = says('agent', 'c');
  const thought = thinks('1', raw);
  const sent = losing('fields', [said, plain, thought], [said, other, plain, thought, thinks('2')]);
  expect(sent).toEqual([says('agent', 'a'), other, plain, thinks('2')]);
  expect(sent[2]).toBe(plain);
});

test('a file that the server rejected is only named, and a file that no server accepts is always only named', () => {
  const [one, two]: ContentBlock[] = [
    { type: 'image', data: pixel, mimeType: 'image/png', name: 'one.png' },
    { type: 'image', data: pixel, mimeType: 'image/png', name: 'two.png' },
  ];
  const damaged: ContentBlock = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  const shows = { ...says('user', 'a'), blocks: [one!, two!, damaged] } as OutputItem;
  expect(losing('file', [two!], [shows])).toEqual([
    { ...shows, blocks: [one, { ...two, data: undefined }, { ...damaged, data: undefined }] },
  ]);
});

test('a call that the server rejected, and its output, become a message of the user', () => {
  const [one, two] = [call('c'), call('d')];
  const sent = losing('call', [one], [says('user', 'a'), one, output('c'), two, output('d')]);
  expect(sides(sent)).toEqual([
    'user: a',
    expect.stringMatching(/^user: \(This is from Liminal.* The call f\(\{\}\) has ended/s),
    'function_call',
    'function_call_output',
  ]);
});

test('files that tools returned follow all outputs, in a message of the user', () => {
  const blocks: ContentBlock[] = [{ type: 'image', data: pixel, mimeType: 'image/png' }];
  const conversation = [
    says('user', 'a'),
    call('c'),
    call('d'),
    { ...output('c'), blocks } as OutputItem,
    output('d'),
    says('agent', 'b'),
    says('user', 'e'),
  ];
  const sent = following('turns', ...conversation);
  expect(sides(sent)).toEqual([
    'user: a',
    'function_call',
    'function_call',
    'function_call_output',
    'function_call_output',
    'agent: I have the result.',
    'user: From the tool:',
    'agent: b',
    'user: e',
  ]);
  expect(sent[3]).toEqual(output('c'));
  expect(sent[6]).toMatchObject({ blocks });
  const ids = sent.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('files of the last output are sent as well, and the conversation then ends with the user', () => {
  const blocks: ContentBlock[] = [{ type: 'image', data: pixel, mimeType: 'image/png' }];
  const shown = { ...output('c'), blocks } as OutputItem;
  expect(sides(following('turns', says('user', 'a'), call('c'), shown))).toEqual([
    'user: a',
    'function_call',
    'function_call_output',
    'agent: I have the result.',
    'user: From the tool:',
  ]);
  expect(sides(following('turns', says('user', 'a'), call('c'), output('c')))).toEqual([
    'user: a',
    'function_call',
    'function_call_output',
  ]);
});

test('a conversation in which roles alternate does not change, and items without a role do not count', () => {
  const system: OutputItem = { type: 'message', id: 's', origin: 'system', content: 's' };
  for (const conversation of [
    [],
    [says('user', 'a')],
    [says('user', 'a'), says('agent', 'b'), says('user', 'c')],
    [thinks('1'), says('user', 'a')],
    [says('user', 'a'), call('c'), output('c'), system],
  ]) {
    expect(following('turns', ...conversation)).toEqual(conversation);
  }
  expect(sides(following('turns', thinks('1'), says('agent', 'a'), system))).toEqual(
    ['reasoning', 'user: (No message.)', 'agent: a', 'message', 'user: (Go on.)'].map((one) =>
      one === 'message' ? 'system: s' : one,
    ),
  );
  expect(sides(following('turns', call('c'), output('c')))[0]).toBe('user: (No message.)');
});

test('an id that is too long, too short or has other characters is replaced, and other items do not change', () => {
  const said = says('user', 'a');
  for (const id of ['a1B2c3D4', 'a1B2c3D4eF', 'a1B2-3D4e']) {
    const [first, made] = following('ids', said, call(id), output(id));
    expect(first).toBe(said);
    expect(made).toMatchObject({ callId: expect.stringMatching(/^[0-9a-f]{9}$/) });
  }
});
