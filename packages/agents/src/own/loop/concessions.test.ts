import type { OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { withConcessions, isThought, type Rule } from './concessions.ts';

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

test('the user begins and ends the conversation, and between a tool’s output and a user message the model speaks', () => {
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
