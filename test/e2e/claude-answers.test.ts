import { gate, reply, text } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage();

test('TC-8.1a TC-7.2a a session is made, a message sent, and its answer is read while it is still being written', async () => {
  const folder = await stage.project('greeter');
  const rest = gate();
  stage.api.play([reply(text(['The first half, ', rest, 'and the second.']))]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });

  await session.send('Tell me something.');
  await rest.reached;
  await session.untilSaid(/^The first half,$/);
  expect(await session.answers.count()).toBe(1);
  rest.open();

  await session.untilSaid(/^The first half, and the second\.$/);
  await session.untilEnded(1);
});
