/**
 * One bad part in a session's history never makes the session unusable: Liminal finds the part that the server refuses,
 * leaves the part out of the request, and names it to the model. The log keeps everything.
 */
import { atLength } from '@liminal/testkit/at-length';
import { pixel } from '@liminal/testkit';
import type { ContentBlock, Response } from '@liminal/protocol';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../src/own/tools/index.ts';
import {
  type AnySession,
  type Interface,
  interfaces,
  openSession,
  type ScriptedAnswer,
  type AnswerScript,
} from './any-server.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const image = (data: string, name: string, mimeType = 'image/png'): ContentBlock => ({
  type: 'image',
  mimeType,
  data,
  name,
});
const gif = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const cutPixel = Buffer.from(pixel, 'base64').subarray(0, 40).toString('base64');
const half = '\u{1f600}'.slice(0, 1);

const pictures = { pixel, gif, cut: cutPixel, none: btoa('no picture') };
type Picture = keyof typeof pictures;

/** A tool that returns the given text and picture. */
const show: Tool<{ text: string; picture?: Picture | undefined }> = {
  name: 'show',
  description: 'Shows a picture.',
  kind: 'read',
  input: z.object({
    text: z.string(),
    picture: z.enum(['pixel', 'gif', 'cut', 'none']).optional(),
  }),
  describe: async ({ text }) => ({ title: text }),
  needs: () => undefined,
  run: async ({ text, picture }) => {
    if (text === 'fail') return { output: `No ${half}`, success: false };
    const blocks = picture === undefined ? {} : { blocks: [image(pictures[picture], 'shown.png')] };
    return { output: text, success: true, ...blocks };
  },
};

async function open(kind: Interface, says: AnswerScript): Promise<AnySession> {
  const session = await openSession(kind, says, [show]);
  ends.push(session.close);
  return session;
}

const sent = (body: object | undefined): string => JSON.stringify(body);

/** Whether a text in a request has a lone surrogate; also checks the texts in arguments, which are JSON. */
function isIllFormed(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, one]: [string, unknown]) => {
    if (name === 'arguments' && typeof one === 'string') return isIllFormed(JSON.parse(one));
    return !name.isWellFormed() || isIllFormed(one);
  });
}

const named = /cannot be shown here|Left out, because/;

test.each(interfaces)(
  'by %s: text that is cut within a character is repaired before it is sent, wherever the text comes from',
  async (kind) => {
    const says: ScriptedAnswer[] = [
      { calls: [{ name: 'show', arguments: `{"text":"\\ud83d${half}"}` }] },
      { words: `Half ${half} a face.` },
      { words: 'Well.' },
    ];
    const { runTurn, bodies } = await open(kind, (body) =>
      isIllFormed(body) ? { refused: 'invalid unicode' } : (says.shift() ?? { words: '' }),
    );
    const pasted = { uri: 'a', name: `${half}.txt`, text: `b${half}` };
    expect(await runTurn(`A ${half}`, [{ type: 'resource', resource: pasted }])).toMatchObject({
      status: 'complete',
    });
    expect(await runTurn('Go on')).toMatchObject({ status: 'complete' });
    expect(bodies()).toHaveLength(3);
    expect(sent(bodies()[2])).toContain('\ufffd');
  },
);

test.each(interfaces)(
  'by %s: files that no server accepts are only named, and wrong types are corrected',
  async (kind) => {
    const says: ScriptedAnswer[] = [
      { calls: [{ name: 'show', arguments: JSON.stringify({ text: 'a', picture: 'cut' }) }] },
      { words: 'Yes.' },
    ];
    const { runTurn, bodies } = await open(kind, () => says.shift() ?? { words: 'Yes.' });
    const pdf = { uri: 'a', name: 'a.pdf', mimeType: 'application/pdf', blob: btoa('no') };
    await runTurn('See', [
      image(cutPixel, 'cut.png'),
      image(btoa('text'), 'text.png'),
      image(gif, 'really.gif', 'image/png'),
      { type: 'resource', resource: pdf },
    ]);
    const last = sent(bodies()[1]);
    for (const name of ['cut.png', 'text.png', 'a.pdf']) expect(last).toContain(name);
    expect(last.match(new RegExp(named, 'g'))).toHaveLength(4);
    expect(last).not.toContain(cutPixel);
    expect(last).toContain(gif);
    expect(last).toContain('image/gif');
    expect(last).not.toContain('image/png"');
  },
);

test.each(interfaces)(
  'by %s: a picture that the server refuses is only named in later requests, and accepted pictures are still sent',
  async (kind) => {
    const { runTurn, bodies } = await open(kind, (body) =>
      sent(body).includes(gif) ? { refused: 'Could not process image' } : { words: 'Yes.' },
    );
    await runTurn('A', [image(pixel, 'good.png')]);
    expect(await runTurn('B', [image(gif, 'bad.gif', 'image/gif')])).toMatchObject({
      status: 'complete',
    });
    expect(sent(bodies().at(-1))).toMatch(/bad\.gif/);
    expect(sent(bodies().at(-1))).toContain(pixel);
    const before = bodies().length;
    expect(await runTurn('C', [image(pixel, 'new.png')])).toMatchObject({ status: 'complete' });
    expect(bodies()).toHaveLength(before + 1);
  },
);

test.each(interfaces)(
  'by %s: a picture that makes the server fail is found at once, even if the server reports an internal error',
  async (kind) => {
    const { runTurn, bodies } = await open(kind, (body) =>
      sent(body).includes(gif)
        ? { refused: 'cannot identify image file <_io.BytesIO object>', status: 500 }
        : { words: 'Yes.' },
    );
    expect(await runTurn('See', [image(gif, 'bad.gif', 'image/gif')])).toMatchObject({
      status: 'complete',
    });
    expect(bodies()).toHaveLength(2);
  },
);

const callOf = (callId: string): ScriptedAnswer => ({
  calls: [{ name: 'show', arguments: JSON.stringify({ text: 'a', picture: 'pixel' }), callId }],
});

test.each(["Unexpected role 'user' after role 'tool'", 'Bad request.'])(
  'after the error “%s”, the conversation follows Mistral’s rules, and later messages need no additional requests',
  async (words) => {
    const says: ScriptedAnswer[] = [callOf('call_PTLP8xhu3uwZk4l3nlnrrJha'), { words: 'Seen.' }];
    const { runTurn, bodies } = await open('Chat Completions', (body) => {
      const fault = mistral(body) ?? alternates(body);
      if (fault !== undefined) {
        return { refused: words === 'Bad request.' ? words : fault, status: 400 };
      }
      return says.shift() ?? { words: 'Yes.' };
    });
    expect(await runTurn('Look')).toMatchObject({ status: 'complete' });
    const before = bodies().length;
    says.push(callOf('a1B2c3D4e'), { words: 'Again.' });
    expect(await runTurn('Look again')).toMatchObject({ status: 'complete' });
    expect(bodies()).toHaveLength(before + 2);
    expect(sent(bodies().at(-1))).toContain(pixel);
  },
);

test('a template error that llama.cpp reports with status 500 leads to the right concession at once', async () => {
  const says: ScriptedAnswer[] = [callOf('abcdefghi'), { words: 'Seen.' }];
  const { runTurn, bodies } = await open('Chat Completions', (body) => {
    const refused = alternates(body);
    return refused === undefined ? (says.shift() ?? { words: 'Yes.' }) : { refused, status: 500 };
  });
  expect(await runTurn('Look')).toMatchObject({ status: 'complete' });
  expect(bodies()).toHaveLength(3);
});

interface ChatMessage {
  role: string;
  tool_call_id?: string;
  tool_calls?: { id: string }[];
  reasoning_content?: string;
}
const messagesOf = (body: Record<string, unknown>) => body['messages'] as ChatMessage[];

function mistral(body: Record<string, unknown>): string | undefined {
  const messages = messagesOf(body);
  for (const [index, { role, tool_calls = [] }] of messages.entries()) {
    if (role === 'user' && messages[index - 1]?.role === 'tool')
      return "Unexpected role 'user' after role 'tool'";
    const id = tool_calls.find((call) => !/^[a-zA-Z0-9]{9}$/.test(call.id))?.id;
    if (id !== undefined)
      return `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`;
  }
  return undefined;
}

function alternates(body: Record<string, unknown>): string | undefined {
  const said = messagesOf(body).filter(
    ({ role, tool_calls }) => role === 'user' || (role === 'assistant' && !tool_calls),
  );
  return said.some(({ role }, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'))
    ? 'After the optional system message, conversation roles must alternate user and assistant'
    : undefined;
}

test('a server that requires a call’s reasoning gets it back', async () => {
  const says: ScriptedAnswer[] = [callOf('c'), { words: 'Seen.' }];
  const { runTurn } = await open('Chat Completions', (body) =>
    messagesOf(body).some((one) => one.tool_calls && one.reasoning_content === undefined)
      ? { refused: 'The `reasoning_content` in the thinking mode must be passed back to the API.' }
      : (says.shift() ?? { words: 'Yes.' }),
  );
  expect(await runTurn('Look')).toMatchObject({ status: 'complete' });
});

test('encrypted reasoning is sent back with its call, until the server reports that it does not know the field', async () => {
  const pieces = [
    { type: 'reasoning.text', text: 'Let ', index: 0, format: 'f' },
    { type: 'reasoning.text', text: 'us.', signature: 's', index: 0 },
    { type: 'reasoning.encrypted', data: 'e', id: 'rs_1', index: 1 },
  ].map((piece) => ({ choices: [{ index: 0, delta: { reasoning_details: [piece] } }] }));
  const whole = [
    { type: 'reasoning.text', text: 'Let us.', signature: 's', index: 0, format: 'f' },
    { type: 'reasoning.encrypted', data: 'e', id: 'rs_1', index: 1 },
  ];
  const says: ScriptedAnswer[] = [{ ...callOf('c'), chunks: pieces }, { words: 'Seen.' }];
  let isKnown = true;
  const { runTurn, bodies } = await open('Chat Completions', (body) =>
    !isKnown && sent(body).includes('reasoning_details')
      ? { refused: "property 'messages.2.reasoning_details' is unsupported" }
      : (says.shift() ?? { words: 'Yes.' }),
  );
  await runTurn('Look');
  expect(bodies()[1]).toMatchObject({ messages: [{}, {}, { reasoning_details: whole }, {}, {}] });
  isKnown = false;
  expect(await runTurn('Go on')).toMatchObject({ status: 'complete' });
  expect(await runTurn('Go on')).toMatchObject({ status: 'complete' });
  expect(bodies()).toHaveLength(5);
});

test.each(interfaces)(
  'by %s: after /compact, a conversation that was refused in every form can continue',
  async (kind) => {
    const { runTurn, bodies } = await open(kind, (body) =>
      sent(body).includes('poison') ? { refused: 'Bad request.' } : { words: 'Nothing is known.' },
    );
    await runTurn('Hello');
    expect(await runTurn('This is poison')).toMatchObject({ status: 'error' });
    expect((await runTurn('And now?')).error?.message).toMatch(/send \/compact/);
    // The conversation after that message is accepted.
    expect(await runTurn('/compact')).toMatchObject({ status: 'complete' });
    expect(await runTurn('And now?')).toMatchObject({ status: 'complete' });
    expect(await runTurn('poison once more')).toMatchObject({ status: 'error' });
    const compacted = await runTurn('/compact');
    expect(compacted).toMatchObject({ status: 'complete' });
    expect(JSON.stringify(compacted.outputItems)).toContain('contains nothing of the conversation');
    expect(sent(bodies().at(-1))).toContain('Nothing of our conversation is here');
    expect(await runTurn('And now?')).toMatchObject({ status: 'complete' });
  },
);

// Rules of servers; each rule tests the JSON of the whole request.
const rules: [name: string, refuses: (body: string) => boolean][] = [
  ['a certain picture', (body) => body.includes(gif)],
  ['all pictures', (body) => body.includes('base64')],
  ['pictures of tools', (body) => body.includes(pixel) && body.includes('shown')],
  [
    'ids of other makers',
    (body) => /"(tool_use_|call_|tool_call_)?id":"toolu?_?[^"]{10,}"/.test(body),
  ],
  ['ids that are long', (body) => /"(tool_use_id|call_id|tool_call_id)":"[^"]{10,}"/.test(body)],
  ['the user after a tool', (body) => /"role":"tool"[^{}]*\},\{"role":"user"/.test(body)],
  ['calls', (body) => /"tool_calls"|"tool_use"|"function_call"/.test(body)],
  ['searches of a server', (body) => /"web_search_call"|"server_tool_use"/.test(body)],
  ['half letters', (body) => isIllFormed(JSON.parse(body))],
  ['thinking', (body) => /"thinking"|encrypted_content":"/.test(body)],
];

interface Played {
  text: string;
  thought?: string;
  files: Picture[];
  searched?: string;
  calls: { text: string; picture?: Picture; callId?: string }[];
}
const textOf = fc.constantFrom('a', `b${half}`, '\u{1f600}', ' ', 'fail', '"\\ud83d"');
const picture = fc.constantFrom<Picture>('pixel', 'gif', 'cut', 'none');
const played: fc.Arbitrary<Played> = fc.record(
  {
    thought: fc.constantFrom('Hm.', `Hm ${half}`),
    text: fc.constantFrom('Go', `Go ${half}`, '\u{1f600}'),
    files: fc.array(picture, { maxLength: 2 }),
    searched: fc.constantFrom('news', `n ${half}`),
    calls: fc.array(
      fc.record(
        {
          text: textOf,
          picture,
          callId: fc.constantFrom('c', 'call_PTLP8xhu3uwZk4l3', 'abcdefghi'),
        },
        { requiredKeys: ['text'] },
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['thought', 'text', 'files', 'calls'] },
);

test.each(interfaces)(
  'by %s: for any content of a session and any refusals by its server, the session gets an answer in the end',
  { timeout: 120_000 },
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(played, { minLength: 1, maxLength: 4 }),
        fc.subarray(rules, { maxLength: 4 }),
        fc.constantFrom('Bad request.', 'invalid image', 'Could not read messages.1'),
        async (turns, refused, words) => {
          let says: ScriptedAnswer[] = [];
          const saying: AnswerScript = (body) =>
            refused.some(([, refuses]) => refuses(sent({ ...body, tools: [] })))
              ? { refused: words }
              : (says.shift() ?? { words: 'Yes.' });
          const stored: Response[] = [];
          const session = await openSession(kind, saying, [show]);
          try {
            for (const { thought = '', text, files, calls, searched } of turns) {
              const found = [{ title: `A ${half}`, url: 'https://a.example/' }];
              says = calls.map(({ callId, ...input }) => ({
                thought,
                ...(searched !== undefined && { searched: { words: searched, found } }),
                calls: [
                  { name: 'show', arguments: JSON.stringify(input), ...(callId && { callId }) },
                ],
              }));
              const blocks = files.map((one, index) => image(pictures[one], `${index}.png`));
              stored.push(await session.runTurn(text, blocks));
              expect(stored.at(-1)).toMatchObject({ status: 'complete' });
            }
            says = [];
            const before = session.bodies().length;
            expect(await session.runTurn('Still there?')).toMatchObject({ status: 'complete' });
            // The client has stored the concessions.
            expect(session.bodies().length - before).toBeLessThanOrEqual(2);
          } finally {
            await session.close();
          }
          // After a restart, Liminal must find the refused part again.
          const again = await openSession(kind, saying, [show], stored);
          try {
            expect(await again.runTurn('Still there?')).toMatchObject({ status: 'complete' });
          } finally {
            await again.close();
          }
        },
      ),
      { numRuns: atLength ? 300 : 25 },
    );
  },
);

test.each(interfaces)(
  'by %s: after /compact, a conversation at which the server always failed without a reason can continue',
  async (kind) => {
    const { runTurn } = await open(kind, (body) =>
      sent(body).includes('poison') ? { refused: '', status: 500 } : { words: 'Well.' },
    );
    await runTurn('This is poison.');
    for (const words of ['And this?', 'Go on']) {
      expect(await runTurn(words)).toMatchObject({ status: 'error' });
    }
    expect(await runTurn('/compact')).toMatchObject({ status: 'complete' });
    expect(await runTurn('And now?')).toMatchObject({ status: 'complete' });
  },
);
