/**
 * Doctor's check of agents. Doctor starts each agent that can run, asks the agent for its description, and stops the
 * agent.
 */
import { thrownMessage } from '@liminal/protocol';
import { type AgentIntroduction, type AgentDriver, Semaphore, startGuard } from '@liminal/agents';
import type { AgentInfo } from '@liminal/protocol';
import { createAgents } from '../agents.ts';
import type { Config } from '../config/load.ts';
import type { Finding } from '../finding.ts';

/** Time limit for an agent's answer, in ms. */
const answerLimitMs = 10_000;
/** How many agents are started at the same time. */
const atOnce = 4;

/** Reports one finding per agent. Resolves when every process of the agents has ended. */
export async function checkAgents(
  config: Config,
  report: (finding: Finding) => void,
): Promise<void> {
  const agents = createAgents(config);
  const limit = new Semaphore(atOnce);
  // If this process is killed, end the agents.
  const guard = await startGuard();
  try {
    const checks = agents.list().map((driver) => limit.run(() => checkAgent(driver)));
    // Report the agents in their usual order, not in the order in which they answer.
    for (const check of checks) report(await check);
  } finally {
    await agents.close();
    await guard.dismiss();
  }
}

async function checkAgent(driver: AgentDriver): Promise<Finding> {
  const info = await driver.describe();
  if (!info.available || driver.introduce === undefined) return describeAgent(info);
  try {
    return describeAgent(info, await driver.introduce(answerLimitMs));
  } catch (error) {
    const reason = thrownMessage(error);
    return describeAgent({ ...info, available: false, reason });
  }
}

/**
 * Returns the finding about an agent. `introduction` is the agent's description of itself, or undefined if doctor did
 * not start the agent.
 */
export function describeAgent(info: AgentInfo, introduction?: AgentIntroduction): Finding {
  const { cliType, name, available, reason, program } = info;
  const version = introduction?.version ?? info.version;
  const where = program === undefined ? '' : ` (${program})`;
  const title = `Agent ${cliType}: ${name}${version === undefined ? '' : ` ${version}`}${where}`;
  const troubles = [...(reason === undefined ? [] : [reason]), ...(introduction?.problems ?? [])];
  const words = [
    available ? title : `${title} is not set up`,
    ...troubles,
    ...(introduction === undefined ? [] : describeIntroduction(introduction)),
  ];
  return {
    verdict: available && troubles.length === 0 ? 'good' : 'poor',
    text: words.length === 1 ? title : words.map((one) => one.replace(/\.?$/, '.')).join(' '),
  };
}

function describeIntroduction({ name, protocol, abilities, signIn }: AgentIntroduction): string[] {
  const called = name === undefined ? 'It' : `It calls itself “${name}”,`;
  const can = abilities.length === 0 ? '' : `, and can ${abilities.join(', ')}`;
  return [
    `${called} speaks ${protocol}${can}`,
    ...(signIn.length === 0 ? [] : [`Ways to sign in: ${signIn.join('; ')}`]),
  ];
}
