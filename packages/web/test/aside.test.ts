/** Tests the dialog in which a person asks a question that does not become part of the conversation. */
import { beforeEach, expect, it } from 'vitest';
import { sendCommand } from './page-command.ts';
import { openStage, sessionId, stage } from './stage.ts';

openStage();

const path = `/api/session/${sessionId}/aside`;

beforeEach(() => {
  const agent = { cliType: 'demo', name: 'Demo', description: '', available: true };
  stage.answer = (_, asked) => {
    if (asked === '/api/agents') return { agents: [{ ...agent, answersAside: true }] };
    return asked === path ? { answer: 'A plum,\n<b>not</b> a pear.' } : undefined;
  };
});

it('/btw asks a question in a dialog, and shows the answer as plain text', async () => {
  const page = await stage.visit();
  await sendCommand(page, '/btw which fruit?');
  const dialog = page.getByRole('dialog', { name: 'Beside the conversation' });
  const answer = dialog.getByRole('region', { name: 'Answer' });
  await answer.waitFor();
  expect(await answer.innerText()).toBe('A plum,\n<b>not</b> a pear.');
  const asked = () => stage.requests.flatMap((one) => (one.path === path ? [one.body] : []));
  expect(asked()).toEqual([{ question: 'which fruit?' }]);
  expect(stage.requests.filter((one) => one.path.endsWith('/send'))).toEqual([]);

  stage.refuse = (one) =>
    one === path ? { code: 'NOT_ANSWERED', message: 'There is no answer.' } : undefined;
  await dialog.getByRole('textbox', { name: 'Question' }).fill('and now?');
  await page.keyboard.press('Enter');
  await dialog.getByText('There is no answer.').waitFor();
  expect(await answer.count()).toBe(0);
  expect(asked().at(-1)).toEqual({ question: 'and now?' });
});

it('/btw without a question shows the last answer again, even if this answer arrived after the dialog was closed', async () => {
  const answered = Promise.withResolvers<void>();
  const answer = stage.answer;
  stage.answer = async (method, one, body) => {
    if (one === path) await answered.promise;
    return answer(method, one, body);
  };
  const page = await stage.visit();
  await sendCommand(page, '/btw which fruit?');
  const dialog = page.getByRole('dialog', { name: 'Beside the conversation' });
  await dialog.getByText('Asking…').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  const arrived = page.waitForResponse((response) => response.url().endsWith('/aside'));
  answered.resolve();
  await (await arrived).finished();

  await sendCommand(page, '/btw');
  await dialog.getByRole('region', { name: 'Answer' }).getByText('A plum,').waitFor();
  const question = dialog.getByRole('textbox', { name: 'Question' });
  expect(await question.inputValue()).toBe('which fruit?');
});
