import { byPrompt, gate, held, type Reply, reply, text, toolUse } from '@liminal/testkit';
import { atLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { shareServer } from './server.ts';

interface Moment {
  moment: string;
  /** The model's answers. */
  replies: () => Reply[];
  /** The text that the agent has sent when it is killed. */
  agentText: string;
  /** Whether the agent is also killed at this point in short runs. */
  isShort?: boolean;
}

const moments: Moment[] = [
  {
    moment: 'before its first word',
    replies: () => [held(gate(), reply('Too late.'))],
    agentText: '',
  },
  {
    moment: 'while it speaks',
    replies: () => [reply(text(['So far', gate(), ' so good.']))],
    agentText: 'So far',
    isShort: true,
  },
  {
    moment: 'while it waits for a permission',
    replies: () => [reply([text('May I?'), toolUse('Bash', { command: 'touch here' })])],
    agentText: 'May I?',
  },
  {
    moment: 'while a tool runs',
    replies: () => [reply([text('I follow.'), toolUse('Bash', { command: 'tail -f /dev/null' })])],
    agentText: 'I follow.',
    isShort: true,
  },
];

const shared = shareServer(() => ({}));

test.each(moments.filter(({ isShort }) => atLength || isShort))(
  'INV-2 INV-3 INV-8 if the agent is killed $moment, its turn ends at once with all its messages, and the conversation continues',
  async ({ moment, replies, agentText }) => {
    const { faults, sessionId } = shared;
    const [remember, begin, goOn] = ['Remember', 'Begin', 'Go on'].map(
      (what) => `${what} ${moment}.`,
    ) as [string, string, string];
    faults.api.play(
      byPrompt({
        [remember]: [reply(`I do ${moment}.`)],
        [begin]: replies(),
        [goOn]: [reply('Here I am.')],
      }),
    );
    const reader = await faults.follow(sessionId);
    const first = await faults.requests.send(sessionId, remember);
    await reader.ended(first.turnId);
    await faults.untilStored(sessionId, `I do ${moment}.`);
    const { turnId } = await faults.requests.send(sessionId, begin);
    await faults.api.request(({ prompt }) => prompt === begin);
    await reader.until(() => reader.agentText(turnId) === agentText);

    process.kill(faults.agentPid(sessionId), 'SIGKILL');
    const turn = await reader.ended(turnId);

    expect(turn).toMatchObject({ status: 'error', error: { code: 'PROCESS_CRASH' } });
    expect(reader.ends(turnId)).toEqual(['turn_error']);
    expect(reader.agentText(turnId)).toBe(agentText);
    expect(turn.items.filter((item) => !['complete', 'error'].includes(item.status))).toEqual([]);
    await expect.poll(() => faults.others, { timeout: 30_000 }).toEqual([]);

    const next = await faults.requests.send(sessionId, goOn);
    expect(await reader.ended(next.turnId)).toMatchObject({ status: 'complete' });
    expect(reader.agentText(next.turnId)).toBe('Here I am.');
    const { body } = await faults.api.request(({ prompt }) => prompt.includes(goOn));
    expect(JSON.stringify(body.messages)).toContain(remember);

    // A reader that subscribes later gets the same end of the turn and the same messages.
    const late = await faults.follow(sessionId);
    expect(late.turn(turnId)).toMatchObject({ status: 'error', error: { code: 'PROCESS_CRASH' } });
    expect(late.agentText(turnId)).toBe(agentText);
  },
);
