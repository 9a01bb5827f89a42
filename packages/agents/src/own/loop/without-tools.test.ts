/** Tests models without tools, which write scripts in their answers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputItem, Response } from '@liminal/protocol';
import { afterEach, expect, test } from 'vitest';
import { DriverProvider } from '../../base/driver-provider.ts';
import type { CliProvider } from '../../contract/provider.ts';
import { foldTurn } from '../../testing/folding.ts';
import { expectWholeTurn, Watch } from '../../testing/watch.ts';
import type { ModelRequest } from './model-client.ts';
import { ModelError } from './model-error.ts';
import { createModelDrivers } from './model-driver.ts';
import { cutOff } from './testing/cut-off.ts';
import { loudEcho } from './testing/echo.ts';
import {
  type Act,
  breaksOff,
  streamsUntilStopped,
  repliesWith,
  ScriptedClient,
} from './testing/scripted-client.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Opened {
  provider: CliProvider;
  client: ScriptedClient;
  watch: Watch;
  runTurn: (message: string) => Promise<Response>;
}

/** A session with the model `plain`, which refuses tools, and the model `one`, which accepts tools. */
async function open(
  acts: Act[],
  {
    stored = [],
    runsScripts = true,
    maxRounds = 20,
    isListed = false,
  }: {
    stored?: Response[];
    runsScripts?: boolean;
    maxRounds?: number;
    isListed?: boolean;
  } = {},
): Promise<Opened> {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-without-tools-'));
  ends.push(() => rm(projectDir, { recursive: true }));
  const client = new ScriptedClient(acts);
  if (isListed) client.models = [{ id: 'plain', callsTools: false }];
  else client.withoutTools.add('plain');
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'plain' }];
  const retries = { attempts: 3, firstMs: 1, maxMs: 1_000 };
  const options = { servers, tools: [loudEcho], retries, maxRounds, runsScripts };
  const [provider] = createModelDrivers(options).map((driver) => new DriverProvider(driver));
  if (provider === undefined) throw new Error('No provider was created.');
  ends.push(() => provider.close());
  const watch = new Watch(provider, 's');
  const known = { resuming: true, stored: { runs: async () => stored } };
  await provider.loadSession('s', { projectDir, config: {}, ...known });
  const say = async (message: string): Promise<Response> => {
    const { turnId } = await provider.sendMessage('s', message);
    expectWholeTurn(await watch.ended(turnId));
    return foldTurn(watch.events, turnId);
  };
  return { provider, client, watch, runTurn: say };
}

const block = (code: string): string => `\`\`\`liminal-script\n${code}\n\`\`\``;
const echo = (text: string): string => `return tools.echo({ text: '${text}' });`;

const told = ({ conversation }: ModelRequest): string[] =>
  conversation.map((item) =>
    item.type === 'message' ? `${item.origin}: ${item.content}` : item.type,
  );
const last = (client: ScriptedClient): string => told(client.requests.at(-1)!).at(-1) ?? '';

const shape = ({ outputItems }: Response): string[] =>
  outputItems.map((item) => ('name' in item ? item.name : item.type));

test('a model that refuses tools then gets requests without tools and with instructions for scripts, and its script is run', async () => {
  const wanted = `I look.\n\n${block("print('so');\nreturn await tools.echo({ text: 'a' });")}`;
  const { runTurn, client } = await open([
    repliesWith(wanted),
    repliesWith('It says a.'),
    repliesWith('Yes.'),
  ]);
  const turn = await runTurn('Look');
  expect(shape(turn)).toEqual([
    'message',
    'message',
    'run_script',
    'script_execution',
    'echo',
    'function_call_output',
    'script_execution_output',
    'function_call_output',
    'message',
  ]);
  expect(turn.outputItems[2]).toMatchObject({ origin: 'agent', title: 'Script', kind: 'execute' });
  await runTurn('Sure?');
  const [first, second] = client.requests;
  expect(client.requests.map(({ tools }) => tools)).toEqual([[], [], []]);
  expect(first?.instructions).toMatch(/```liminal-script[\s\S]*echo\(input: /);
  expect(first?.instructions).not.toContain('run_script');
  expect(told(second!)).toEqual([
    'user: Look',
    `agent: ${wanted}`,
    expect.stringMatching(
      /^user: \(This is from Liminal.* has ended, and gave:\n\n```\nso\n"a"\n```$/,
    ),
  ]);
});

test('a model that is listed as having no tools gets no tools in its first request', async () => {
  const { runTurn, client } = await open([repliesWith('Hi.')], { isListed: true });
  await runTurn('Hello');
  expect(client.requests[0]).toMatchObject({ tools: [] });
  expect(client.requests[0]?.instructions).toContain('liminal-script');
});

test('if scripts are switched off, a model without tools can only write text', async () => {
  const { runTurn, client } = await open([repliesWith(block(echo('a')))], { runsScripts: false });
  expect(shape(await runTurn('Look'))).toEqual(['message', 'message']);
  expect(client.requests[0]?.instructions).not.toContain('liminal-script');
});

test.each([
  ['is not closed', '```liminal-script\nreturn 1', 'stop', /not closed/],
  ['is one of several', `${block('return 1')}\n${block('return 2')}`, 'stop', /more than one/],
  ['is cut off', block('return 1'), 'length', /cut off \(length\)/],
  ['is refused', block('return 1'), 'content_filter', /cut off \(content_filter\)/],
])('a block that %s is not run, and the model is sent the reason', async (_, said, reason, why) => {
  const { runTurn, client } = await open([repliesWith(said, reason), repliesWith('I see.')]);
  const { outputItems } = await runTurn('Look');
  expect(outputItems.map(({ type }) => type)).not.toContain('script_execution');
  expect(last(client)).toMatch(/^user: \(This is from Liminal.*did not succeed/);
  expect(last(client)).toMatch(why);
});

test('if a script is not JavaScript, or if a script fails, the model gets the error', async () => {
  const { runTurn, client } = await open([
    repliesWith(block('return (')),
    repliesWith(block(echo('fail'))),
    repliesWith('Oh.'),
  ]);
  await runTurn('Look');
  const [, syntax, failed] = client.requests.map((request) => told(request).at(-1));
  expect(syntax).toMatch(/did not succeed:[\s\S]*SCRIPT_SYNTAX/);
  expect(failed).toMatch(/did not succeed:[\s\S]*It did not work/);
});

test('an answer that breaks off after its script is requested again, and only then is the script run', async () => {
  const broken = breaksOff(
    block(echo('a')),
    new ModelError('CONNECTION_FAILED', 'It broke off.', { isPassing: true }),
  );
  const { runTurn, client } = await open([
    broken,
    repliesWith(block(echo('b'))),
    repliesWith('So.'),
  ]);
  const turn = await runTurn('Look');
  expect(shape(turn).filter((one) => one === 'run_script')).toHaveLength(1);
  expect(last(client)).toContain('"b"');
});

test('a script that an answer only discusses is not run', async () => {
  const { runTurn } = await open([repliesWith(`So:\n${block(echo('a'))}\nShall I?`)]);
  expect(shape(await runTurn('Look'))).toEqual(['message', 'message']);
});

test('a model that writes scripts without end is stopped at the limit of rounds', async () => {
  const { runTurn, client } = await open(
    [repliesWith(block('1')), repliesWith(block('2')), repliesWith('3')],
    {
      maxRounds: 2,
    },
  );
  expect(await runTurn('Look')).toMatchObject({ finishReason: 'max_turn_requests' });
  expect(client.requests).toHaveLength(2);
});

/** Waits for the first question of a turn. */
async function question(watch: Watch, turnId: string): Promise<string> {
  const idOf = () =>
    watch
      .of(turnId)
      .flatMap(({ payload }) => ('approvalId' in payload ? payload.approvalId : []))[0];
  return watch.until(idOf);
}

test('a script’s calls need permission, and a message that is sent in the meantime is read after the script’s output', async () => {
  const { provider, watch, client } = await open([
    repliesWith(block(echo('loud'))),
    repliesWith('So.'),
  ]);
  const { turnId } = await provider.sendMessage('s', 'Look');
  const approvalId = await question(watch, turnId);
  await provider.steer?.('s', 'And quickly', { turnId, messageId: 'm' });
  await provider.answerApproval?.('s', approvalId, { optionId: 'refuse' });
  expectWholeTurn(await watch.ended(turnId));
  const [, , gave, more] = told(client.requests[1]!);
  expect(gave).toMatch(/The user refused this/);
  expect(more).toBe('user: And quickly');
});

test('stopping a turn stops its script, and the next request contains an output that reports the stop', async () => {
  const { provider, watch, runTurn, client } = await open([
    repliesWith(block(echo('loud'))),
    repliesWith('So.'),
  ]);
  const { turnId } = await provider.sendMessage('s', 'Look');
  await question(watch, turnId);
  await provider.cancelTurn('s');
  expectWholeTurn(await watch.ended(turnId));
  await runTurn('Well?');
  expect(told(client.requests[1]!).slice(2)).toEqual([
    expect.stringMatching(/^user: \(This is from Liminal.*did not succeed:[\s\S]*SCRIPT_CANCELLED/),
    'user: Well?',
  ]);
});

test('if a turn is stopped while the model writes its script, nothing is run', async () => {
  const { provider, watch } = await open([streamsUntilStopped(block(echo('a')))]);
  const { turnId } = await provider.sendMessage('s', 'Look');
  await watch.until(() => watch.of(turnId).some(({ payload }) => payload.type === 'item_delta'));
  await provider.cancelTurn('s');
  expectWholeTurn(await watch.ended(turnId));
  expect(shape(foldTurn(watch.events, turnId))).toEqual(['message', 'message']);
});

test('a script block in a summary is not run', async () => {
  const { runTurn, client } = await open([
    repliesWith('Hi.'),
    repliesWith(`All.\n${block(echo('a'))}`),
    repliesWith('Yes.'),
  ]);
  await runTurn('Hello');
  expect(shape(await runTurn('/compact'))).toEqual(['message', 'message', 'message']);
  await runTurn('So?');
  expect(told(client.requests[2]!)).toHaveLength(2);
});

test('a script that was waiting when its server ended is resumed, and the model gets the script’s output', async () => {
  const before = await open([repliesWith(block(echo('loud')))]);
  const sent = await before.provider.sendMessage('s', 'Look');
  const asked = await question(before.watch, sent.turnId);
  const cut = cutOff(before.watch.of(sent.turnId));

  const { provider, watch, client } = await open([repliesWith('So.')], { stored: [cut] });
  const turnId = watch.events[0]?.turnId ?? '';
  expect(await question(watch, turnId)).toBe(asked);
  await provider.answerApproval?.('s', asked, { optionId: 'allow' });
  expectWholeTurn(await watch.ended(turnId));
  expect(told(client.requests[0]!)).toEqual([
    'user: Look',
    `agent: ${block(echo('loud'))}`,
    expect.stringMatching(
      /^user: \(This is from Liminal.*has ended, and gave:\n\n```\n"loud"\n```$/,
    ),
  ]);
});

test('a model with tools gets earlier scripts as calls, and a model without tools gets earlier calls as text', async () => {
  const { runTurn, client, provider } = await open([
    repliesWith(`First.\n${block(echo('a'))}`),
    repliesWith('So.'),
    repliesWith('I know.'),
    repliesWith('I, too.'),
  ]);
  await runTurn('Look');
  await provider.setConfigOption?.('s', 'model', 'one');
  await runTurn('You?');
  await provider.setConfigOption?.('s', 'model', 'plain');
  await runTurn('And you?');
  const [, , withTools, without] = client.requests;
  expect(told(withTools!)).toEqual([
    'user: Look',
    'agent: First.',
    'function_call',
    'function_call_output',
    'agent: So.',
    'user: You?',
  ]);
  expect(withTools?.conversation[2]).toMatchObject({
    arguments: JSON.stringify({ code: echo('a') }),
  });
  expect(withTools?.tools.map(({ name }) => name)).toEqual(['echo', 'run_script']);
  expect(without?.conversation.map(({ type }: OutputItem) => type)).toEqual(
    Array(7).fill('message'),
  );
});
