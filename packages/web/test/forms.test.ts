import { testAtLength } from '@liminal/testkit/at-length';
import type { ApprovalUpsert } from '@liminal/protocol';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { approval, begun, tool, upsert } from './items.ts';
import { showAll } from './show-all.ts';
import { shareStage, sessionId, stage } from './stage.ts';

shareStage(() => {
  stage.history = begun('Release it');
});

const regions = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const form: NonNullable<ApprovalUpsert['form']> = {
  title: 'Release',
  description: 'As https://semver.org has it.',
  properties: {
    version: {
      type: 'string',
      title: 'Version',
      description: 'Three numbers.',
      minLength: 5,
      default: '2.4.0',
    },
    email: { type: 'string', title: 'Announce to', format: 'email' },
    port: { type: 'integer', title: 'Port', minimum: 1, maximum: 9 },
    channel: {
      type: 'string',
      title: 'Channel',
      oneOf: [
        { const: 'latest', title: 'Latest' },
        { const: 'next', title: 'Next' },
      ],
    },
    region: { type: 'string', title: 'Region', enum: regions },
    targets: { type: 'array', title: 'Targets', items: { enum: ['linux', 'macos'] } },
    sign: { type: 'boolean', title: 'Sign it', default: true },
    day: { type: 'string', title: 'Day', format: 'date' },
    odd: { type: 'colour', title: 'Odd' },
  },
  required: ['version', 'channel'],
};
const title = 'How should this be released?\nIt cannot be taken back.';

/** Opens the page while the agent asks a question. */
async function ask(rest: Partial<ApprovalUpsert> = {}): Promise<{ page: Page; card: Locator }> {
  const page = await stage.visitShared();
  stage.send(upsert(approval('q1', { title, form, ...rest })));
  const card = page.getByRole('group', { name: /^(Question|Permission): / });
  await card.waitFor();
  return { page, card };
}

const pathOf = () => `/api/session/${sessionId}/approval/q1`;
const answers = () => stage.requests.filter((request) => request.path === pathOf());

/** Returns the description of a field for screen readers. */
function described(field: Locator): Promise<string> {
  return field.evaluate((element) =>
    (element.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent ?? '')
      .join(' '),
  );
}

it('a form shows the question and each field with its name and default', async () => {
  const { card } = await ask();
  await card.getByText('It cannot be taken back.').last().waitFor();
  expect(await card.getByRole('textbox', { name: 'Version' }).inputValue()).toBe('2.4.0');
  expect(await described(card.getByRole('textbox', { name: 'Version' }))).toBe('Three numbers.');
  expect(await card.getByRole('textbox', { name: 'Announce to' }).getAttribute('type')).toBe(
    'email',
  );
  expect(await card.getByRole('radiogroup', { name: 'Channel' }).getByRole('radio').count()).toBe(
    2,
  );
  const region = card.getByRole('combobox', { name: 'Region' });
  expect(await region.getByRole('option').allTextContents()).toEqual(['No answer', ...regions]);
  expect(await card.getByRole('group', { name: 'Targets' }).getByRole('checkbox').count()).toBe(2);
  expect(await card.getByRole('checkbox', { name: 'Sign it' }).isChecked()).toBe(true);
  expect(await card.getByLabel('Day').getAttribute('type')).toBe('date');
  expect(await card.getByRole('textbox', { name: 'Odd' }).count()).toBe(1);
  const link = card.getByRole('link', { name: 'https://semver.org' });
  expect(await link.getAttribute('rel')).toContain('noopener');
});

it('a form can be filled in and sent by keyboard alone, and then shows the answers', async () => {
  const { page, card } = await ask();
  stage.answer = (_, at) => (at === pathOf() ? {} : undefined);
  await page.getByRole('textbox', { name: 'Message' }).focus();
  const version = card.getByRole('textbox', { name: 'Version' });
  // A key that is pressed before a person can have read the question has no effect.
  await expect
    .poll(async () => {
      await page.keyboard.press('Enter');
      return version.evaluate(async (field) => {
        // Wait two frames, because the focus moves in the frame after the key. In the frame before, another press of
        // the key would go to the field.
        for (let count = 0; count < 2; count += 1) await new Promise(requestAnimationFrame);
        return field === document.activeElement;
      });
    })
    .toBe(true);
  expect(answers()).toEqual([]);

  await showAll(page);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('2.5.0');
  await page.keyboard.press('Tab');
  await page.keyboard.type('ada@example.org');
  await page.keyboard.press('Tab');
  await page.keyboard.type('8');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await page.keyboard.type('c');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');

  const content = {
    version: '2.5.0',
    email: 'ada@example.org',
    port: 8,
    channel: 'next',
    region: 'c',
    targets: ['linux'],
    sign: false,
  };
  await expect
    .poll(answers)
    .toEqual([{ method: 'POST', path: pathOf(), body: { optionId: 'yes', content } }]);
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
    .toBe('Message');

  const outcome = { outcome: 'selected', optionId: 'yes', content } as const;
  stage.send(upsert(approval('q1', { title, form, outcome, status: 'complete' })));
  await card.waitFor({ state: 'detached' });
  const given = page.getByLabel('Answers');
  expect(await given.locator('dt').allTextContents()).toEqual([
    'Version',
    'Announce to',
    'Port',
    'Channel',
    'Region',
    'Targets',
    'Sign it',
  ]);
  expect(await given.locator('dd').allTextContents()).toEqual([
    '2.5.0',
    'ada@example.org',
    '8',
    'Next',
    'c',
    'linux',
    'No',
  ]);
});

it('an error is shown at its field, and nothing is sent until the answer is corrected', async () => {
  const { page, card } = await ask();
  const version = card.getByRole('textbox', { name: 'Version' });
  const email = card.getByRole('textbox', { name: 'Announce to' });
  await version.fill('2');
  expect(await card.getByText('Give at least').count()).toBe(0);
  await email.fill('ada');
  await card.getByRole('textbox', { name: 'Port' }).fill('12');
  await email.press('Enter');

  await card.getByText('Give at least 5 characters; these are 1.').waitFor();
  await version.and(page.locator(':focus')).waitFor();
  expect(await version.getAttribute('aria-invalid')).toBe('true');
  expect(await described(version)).toContain('Give at least 5 characters');
  expect(await described(email)).toContain('Give an e-mail address');
  expect(await described(card.getByRole('textbox', { name: 'Port' }))).toContain('Give 9 or less.');
  expect(await described(card.getByRole('radiogroup', { name: 'Channel' }))).toBe('Choose one.');
  expect(answers()).toEqual([]);

  await version.fill('2.4.1');
  expect(await version.getAttribute('aria-invalid')).toBe('false');
  await email.fill('');
  await card.getByRole('textbox', { name: 'Port' }).fill('');
  await card.getByRole('radio', { name: 'Latest' }).check();
  await showAll(card.page());
  await card.getByRole('button', { name: 'Allow' }).click();
  const content = { version: '2.4.1', channel: 'latest', sign: true };
  await expect
    .poll(answers)
    .toEqual([{ method: 'POST', path: pathOf(), body: { optionId: 'yes', content } }]);
});

it('a form can be declined without filling it in; in a field, the first Escape only leaves the field', async () => {
  const { page, card } = await ask();
  const version = card.getByRole('textbox', { name: 'Version' });
  await version.fill('');
  await version.press('Escape');
  // The focus is not lost: it is on the request, and there the keys answer.
  await card.and(page.locator(':focus')).waitFor();
  expect(answers()).toEqual([]);
  await expect
    .poll(async () => {
      await page.keyboard.press('Escape');
      return answers()[0];
    })
    .toEqual({ method: 'POST', path: pathOf(), body: { optionId: 'no' } });
});

it('when the focus moves to a question, the question’s problem is visible', async () => {
  const question = (about: string) => ({
    type: 'string',
    title: about,
    oneOf: ['one', 'two', 'three', 'four', 'five'].map((word) => ({ const: word, title: word })),
  });
  const properties = { first: question('First'), second: question('Second') };
  const { card, page } = await ask({ form: { properties, required: ['first', 'second'] } });
  await card.getByRole('radiogroup', { name: 'First' }).getByLabel('two').check();
  await showAll(page);
  await card.getByRole('button', { name: 'Allow' }).click();
  const problem = card.getByText('Choose one.');
  await problem.waitFor();
  const asked = card.getByRole('region', { name: 'What is asked' });
  const isInSight = async () => {
    const [shown, room] = [await problem.boundingBox(), await asked.boundingBox()];
    return shown!.y >= room!.y && shown!.y + shown!.height <= room!.y + room!.height;
  };
  await expect.poll(isInSight).toBe(true);
});

it('if the server reports an error, the error is shown, and the form stays filled in', async () => {
  const { card } = await ask();
  stage.refuse = (at) =>
    at === pathOf()
      ? { code: 'INVALID_OPTION', message: 'The form has no field “odd”.' }
      : undefined;
  await card.getByRole('radio', { name: 'Next' }).check();
  await showAll(card.page());
  await card.getByRole('button', { name: 'Allow' }).click();
  await card.getByRole('alert').getByText('The form has no field “odd”.').waitFor();
  expect(await card.getByRole('radio', { name: 'Next' }).isChecked()).toBe(true);
  await expect.poll(() => card.getByRole('button', { name: 'Allow' }).isEnabled()).toBe(true);
});

it('a form without a field is shown as a plain permission', async () => {
  const { page, card } = await ask({ title: 'Go on', form: { properties: {} } });
  expect(await card.getAttribute('aria-label')).toBe('Permission: Go on');
  expect(await card.locator('input, select, textarea').count()).toBe(0);
  await page.getByRole('textbox', { name: 'Message' }).focus();
  await expect
    .poll(async () => {
      await page.keyboard.press('Enter');
      return answers()[0];
    })
    .toEqual({ method: 'POST', path: pathOf(), body: { optionId: 'yes' } });
});

it('if a tool asks with a form, the form is shown together with the tool’s arguments', async () => {
  const page = await stage.visitShared();
  stage.send(upsert(tool('call', { kind: 'other', title: 'Publish' })));
  stage.send(upsert(approval('q1', { callId: 'call', title, form })));
  const card = page.getByRole('region', { name: 'Waiting for you' });
  await card.getByText('has a question').waitFor();
  await card.getByText('It cannot be taken back.').last().waitFor();
  await card.getByRole('radio', { name: 'Latest' }).check();
  await showAll(card.page());
  await card.getByRole('button', { name: 'Allow' }).click();
  await expect.poll(() => answers().length).toBe(1);
});

it('if a request contains an address to open, the whole address is shown as a link', async () => {
  const url = 'https://example.org/sign-in?code=1234';
  const { card } = await ask({ title: `Sign in, please:\n${url}`, form: undefined });
  const link = card.getByRole('link', { name: url });
  expect(await link.getAttribute('href')).toBe(url);
  expect(await link.getAttribute('target')).toBe('_blank');
});

testAtLength('on a phone, a form is no wider than the page', async () => {
  const page = await stage.visit({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  stage.send(upsert(approval('q1', { title, form })));
  await page.getByRole('radiogroup', { name: 'Channel' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

const mock = (word: string) => `+--------+\n|  ${word.padEnd(6)}|\n+--------+`;
const choosing: typeof form = {
  properties: {
    layout: {
      type: 'string',
      title: 'Which layout should it have?',
      header: 'Layout',
      other: true,
      oneOf: [
        { const: 'Wide', title: 'Wide', description: 'One column.', preview: mock('wide') },
        {
          const: 'Narrow',
          title: 'Narrow',
          description: 'Two columns.',
          preview: '**Two:**\nside by side\n\n```css\n.page { columns: 2 }\n```',
        },
      ],
    },
    extras: {
      type: 'array',
      title: 'Which extras?',
      header: 'Extras',
      other: true,
      items: {
        anyOf: [
          { const: 'Search', title: 'Search', description: 'Finds words.' },
          { const: 'Index', title: 'Index', description: 'Lists words.' },
        ],
      },
    },
  },
  required: ['layout', 'extras'],
};
const sent = (content: object) => [
  { method: 'POST', path: pathOf(), body: { optionId: 'yes', content } },
];

const fontOf = (part: Locator) => part.evaluate((one) => getComputedStyle(one).fontFamily);

it('choices have headers, descriptions, and a monospaced preview of the selected choice', async () => {
  const { card } = await ask({ title: '2 questions: Layout, Extras', form: choosing });
  await card.getByText('Layout', { exact: true }).waitFor();
  await card.getByText('One column.').waitFor();
  const wide = card.getByRole('region', { name: 'Preview of Wide' });
  expect(await wide.locator('pre').textContent()).toBe(mock('wide'));
  await card.getByText('Two columns.').hover();
  const narrow = card.getByRole('region', { name: 'Preview of Narrow' });
  await narrow.locator('strong').getByText('Two:').waitFor();
  expect(await narrow.locator('p').innerText()).toBe('Two:\nside by side');
  expect(await fontOf(narrow.locator('p'))).toBe(await fontOf(narrow.locator('code')));
  await card.getByText('Two columns.').click();
  await card.getByText('Lists words.').click();
  await card.getByText('Finds words.').click();
  await narrow.waitFor();
  await showAll(card.page());
  await card.getByRole('button', { name: 'Allow' }).click();
  await expect.poll(answers).toEqual(sent({ layout: 'Narrow', extras: ['Search', 'Index'] }));
});

it('by keyboard alone, writing an own answer selects it, instead of the choices or in addition to them', async () => {
  const { page, card } = await ask({ title: '2 questions: Layout, Extras', form: choosing });
  await card.getByRole('radio', { name: 'Wide' }).focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Round');
  expect(await card.getByRole('radio', { name: 'Something else' }).isChecked()).toBe(true);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await card.getByRole('textbox', { name: 'Something else: Which extras?' }).focus();
  await page.keyboard.type('A map');
  await page.keyboard.press('Enter');
  await expect.poll(answers).toEqual(sent({ layout: 'Round', extras: ['Search', 'A map'] }));
});

it('an empty own answer is reported, and the text of an own answer stays while another choice is selected', async () => {
  const { card } = await ask({ title: '2 questions: Layout, Extras', form: choosing });
  const own = card.getByRole('textbox', { name: 'Something else: Which layout should it have?' });
  await card.getByRole('radio', { name: 'Something else' }).check();
  await showAll(card.page());
  await card.getByRole('button', { name: 'Allow' }).click();
  await card.getByText('Choose one, or say something else.').waitFor();
  await own.fill('Round');
  await card.getByRole('radio', { name: 'Wide' }).check();
  expect(await own.inputValue()).toBe('Round');
  await card.getByRole('radio', { name: 'Something else' }).check();
  await showAll(card.page());
  await card.getByRole('button', { name: 'Allow' }).click();
  await expect.poll(answers).toEqual(sent({ layout: 'Round', extras: [] }));
});

testAtLength(
  'on a touch screen, choices and own answers are as high as a finger and no wider than the page',
  async () => {
    const page = await stage.visit({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    stage.send(upsert(approval('q1', { title: 'Questions', form: choosing })));
    await page.getByText('Two columns.').tap();
    await page.getByRole('region', { name: 'Preview of Narrow' }).waitFor();
    const own = page.getByRole('textbox', { name: 'Something else: Which extras?' });
    await own.tap();
    await own.fill('A map');
    expect((await own.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await showAll(page);
    await page.getByRole('button', { name: 'Allow' }).tap();
    await expect.poll(answers).toEqual(sent({ layout: 'Narrow', extras: ['A map'] }));
  },
);
