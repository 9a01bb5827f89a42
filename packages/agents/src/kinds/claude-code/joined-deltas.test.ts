import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeltaJoiner } from './joined-deltas.ts';

const joinDeltas = (lines: readonly string[]): string[] => new DeltaJoiner().join(lines);

const session = { session_id: 's', uuid: 'u' };
const line = (index: number, delta: object, parent: string | null = null, more = {}): string =>
  JSON.stringify({
    type: 'stream_event',
    event: { type: 'content_block_delta', index, delta },
    ...session,
    parent_tool_use_id: parent,
    ...more,
  });
const says = (text: string, index = 0, parent: string | null = null): string =>
  line(index, { type: 'text_delta', text }, parent);

test('successive deltas of one block become one delta with all their text', () => {
  const before = '{"type":"system"}';
  expect(joinDeltas([before, says('Hel'), says('lo'), says('!'), ''])).toEqual([
    before,
    says('Hello!'),
    '',
  ]);
  const thinking = (text: string) => line(0, { type: 'thinking_delta', thinking: text });
  const json = (text: string) => line(0, { type: 'input_json_delta', partial_json: text });
  expect(joinDeltas([thinking('a'), thinking('b'), json('{'), json('}')])).toEqual([
    thinking('ab'),
    json('{}'),
  ]);
});

test.each([
  ['of another block', [says('a'), says('b', 1)]],
  ['of a subagent', [says('a'), says('b', 0, 'toolu_1')]],
  ['with a line between', [says('a'), '{"type":"keep_alive"}', says('b')]],
  ['that answers a message', [says('a'), line(0, { text: 'b' }, null, { user_message_uuid: 'm' })]],
  [
    'with an additional field',
    [says('a'), line(0, { type: 'text_delta', text: 'b', citation: 1 })],
  ],
  ['that is broken off', [says('a'), says('b').slice(0, -3)]],
  ['without a text', [says('a'), line(0, { type: 'signature_delta', signature: 'b' })]],
])('a delta %s is not joined', (_, lines) => {
  expect(joinDeltas(lines)).toEqual(lines);
});

test('for random messages, each block gets the same text in the same order', () => {
  const odd = fc.constantFrom('"', '\\', '"}}', '\\"', '\n', 'é');
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 5 }), odd);
  const any = fc.oneof(
    fc.tuple(text, fc.nat(1), fc.constantFrom(null, 'p')).map((delta) => says(...delta)),
    fc.constantFrom('', 'noise', '{"type":"result"}', says('x').slice(1)),
  );
  fc.assert(
    fc.property(fc.array(any), fc.array(any), (some, others) => {
      const joiner = new DeltaJoiner();
      const joined = [...joiner.join(some), ...joiner.join(others)];
      expect(told(joined)).toEqual(told([...some, ...others]));
    }),
  );
});

/** The text of each block until another message arrives. */
function told(lines: readonly string[]): string[] {
  const parts: { block: string; text: string }[] = [];
  for (const one of lines) {
    const [, index, text, parent] =
      /"index":(\d),.*"text":("(?:[^"\\]|\\.)*").*"parent_tool_use_id":(null|"p")/.exec(one) ?? [];
    const block = index === undefined || !one.startsWith('{"t') ? one : `${index} ${parent}`;
    const last = parts.at(-1);
    const said = block === one ? '' : String(JSON.parse(text ?? '""'));
    if (last?.block === block && block !== one) last.text += said;
    else parts.push({ block, text: said });
  }
  return parts.map((part) => `${part.block}: ${part.text}`);
}
