/** Tests bare models of both makers as users use them, with the same story for each maker. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answer,
  apiError,
  functionCall,
  gate,
  type Gate,
  httpError,
  message,
  reasoning,
  reply,
  text,
  thinking,
  toolUse,
} from '@liminal/testkit';
import { firstOf } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage({
  hasOpenAi: true,
  config: {
    models: {
      openai: { type: 'openai', model: 'gpt-scripted', prices: { input: 1, output: 2 } },
      anthropic: { type: 'anthropic', model: 'claude-scripted' },
    },
  },
});

const away = /ERR_|Failed to (fetch|load)|WebSocket|status of 50\d|chrome-error/;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** One answer of the model. */
type Says =
  | { say: string; after?: Gate }
  | { think: string; say: string }
  | { call: string; input: Record<string, unknown> }
  | { fail: string };

interface Maker {
  name: string;
  play: (says: Says[]) => void;
  /** Returns the last request that the model received. */
  asked: () => unknown;
}

const openAi: Maker = {
  name: 'OpenAI models',
  play: (says) =>
    stage.openAiApi.play(
      says.map((one) => {
        if ('fail' in one) return httpError(400, one.fail);
        if ('call' in one) return answer(functionCall(one.call, one.input));
        if ('think' in one) return answer([reasoning([one.think]), message(one.say)]);
        return answer(message(one.after ? [one.say, one.after] : one.say));
      }),
    ),
  asked: () => stage.openAiApi.requests.at(-1)?.body,
};

const anthropic: Maker = {
  name: 'Anthropic models',
  play: (says) =>
    stage.api.play(
      says.map((one) => {
        if ('fail' in one) return apiError(400, one.fail);
        if ('call' in one) return reply(toolUse(one.call, one.input));
        if ('think' in one) return reply([thinking(one.think), text(one.say)]);
        return reply(text(one.after ? [one.say, one.after] : one.say));
      }),
    ),
  asked: () => stage.api.requests.at(-1)?.body,
};

const stories: [maker: Maker, other: Maker, otherModel: string][] = [
  [openAi, anthropic, 'claude-scripted'],
  [anthropic, openAi, 'gpt-scripted'],
];

test.each(firstOf(1, stories))(
  '$name: a user sees text and thinking, sends an image, allows a tool that edits a file, stops a turn, sees an error, reloads the page, continues after the server died during a permission request, and switches to another maker',
  async (maker, other, otherModel) => {
    const folder = await stage.project(maker.name, { 'greet.txt': 'hello\nworld\n' });
    const ada = await stage.person();
    const { page } = ada;
    const session = await ada.startSession({ folder, agent: maker.name });

    maker.play([{ think: 'It is a greeting.', say: 'Good morning.' }]);
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await choosing).setFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png });
    await page.getByRole('button', { name: 'Show dot.png' }).waitFor();
    await session.send('Hello');
    await session.untilAnswer('Good morning.');
    await session.untilEnded(1);
    expect(JSON.stringify(maker.asked())).toContain(png.toString('base64'));
    await session.conversation.getByRole('button', { name: /^Thought/ }).click();
    await session.conversation.getByText('It is a greeting.').waitFor();

    maker.play([
      { call: 'edit', input: { path: 'greet.txt', oldText: 'world', newText: 'there' } },
      { say: 'Changed.' },
    ]);
    await session.send('Change it');
    const request = session.permission(/^Permission: /);
    await request.waitFor();
    expect(await readFile(join(folder, 'greet.txt'), 'utf8')).toBe('hello\nworld\n');
    await session.allow();
    await session.untilAnswer('Changed.');
    await session.untilEnded(2);
    expect(await readFile(join(folder, 'greet.txt'), 'utf8')).toBe('hello\nthere\n');
    const edit = session.tool('Edit greet.txt');
    await session.unfold(edit);
    await edit.getByText('there').first().waitFor();

    const never = gate();
    maker.play([{ say: 'I go on and', after: never }]);
    await session.send('Go on');
    await session.untilAnswer('I go on and');
    await session.stopButton.click();
    await session.untilEnded(3);
    never.open();

    maker.play([{ fail: 'The server says no.' }]);
    await session.send('Fail');
    await session.failureOf('last').getByText('The server says no.').waitFor();
    await session.untilEnded(4);

    await page.reload();
    await session.untilEnded(4);
    await session.untilAnswer('I go on and');

    maker.play([{ call: 'bash', input: { command: 'echo run > ran.txt' } }]);
    await session.send('Run it');
    await request.waitFor();
    stage.expectComplaints(away);
    await stage.server.crash();
    maker.play([{ say: 'It ran.' }]);
    await stage.server.restart();
    await session.untilEnded(5);
    // The call is shown once, in the turn that continues the first turn.
    await expect.poll(() => session.tool('Run echo run > ran.txt').count()).toBe(1);
    await session.allow();
    await session.untilAnswer('It ran.');
    await session.untilEnded(6);
    expect(await readFile(join(folder, 'ran.txt'), 'utf8')).toBe('run\n');

    other.play([{ say: 'I know all of it.' }]);
    await session.choose('Model', otherModel);
    await session.send('And you?');
    await session.untilAnswer('I know all of it.');
    await session.untilEnded(7);
    const known = JSON.stringify(other.asked());
    for (const said of ['Good morning.', 'Changed.', 'I go on and', 'It ran.']) {
      expect(known).toContain(said);
    }
  },
);
