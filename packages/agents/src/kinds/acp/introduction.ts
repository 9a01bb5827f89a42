import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentIntroduction } from '../../contract/provider.ts';
import type { AcpAgent, Capabilities } from './acp-agent.ts';
import { findChoice } from './acp-settings.ts';
import { defaultProblem, wantedByDefault, type Defaults } from './defaults.ts';
import { authSentence, describeAuthMethod, describeError, readRpcError, rpc } from './errors.ts';
import { isRecord } from './translate/fields.ts';
import { Settings } from './translate/settings.ts';

interface IntroductionOptions {
  /** Starts the agent in the folder; rejects with why it did not start. */
  start: (cwd: string) => Promise<AcpAgent>;
  defaults: Defaults;
  /** The limit for each answer of the agent, ms. */
  limitMs: number;
}

/**
 * Starts an agent, reads its answer to `initialize`, and ends the agent. Begins a session only if there are defaults to
 * check, since only a session shows the settings that an agent offers.
 */
export async function introduce(options: IntroductionOptions): Promise<AgentIntroduction> {
  const { start, defaults, limitMs } = options;
  const folder = await mkdtemp(join(tmpdir(), 'liminal-introduction-'));
  try {
    const agent = await start(folder);
    try {
      const problems = await agent.within(limitMs, defaultProblems(agent, folder, defaults));
      return { ...introduction(agent), problems };
    } finally {
      await agent.end();
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function introduction(agent: AcpAgent): Omit<AgentIntroduction, 'problems'> {
  const { title, version } = agent;
  return {
    ...(title !== undefined && { name: title }),
    ...(version !== undefined && { version }),
    protocol: `ACP ${agent.protocolVersion}`,
    abilities: abilities(agent.capabilities),
    signIn: agent.authMethods.map(describeAuthMethod),
  };
}

function abilities(capabilities: Capabilities): string[] {
  const { loadSession, promptCapabilities, sessionCapabilities } = capabilities;
  const canContinue = loadSession === true || sessionCapabilities?.resume === true;
  return [
    ...(canContinue ? ['load sessions'] : []),
    ...(sessionCapabilities?.list === true ? ['list sessions'] : []),
    ...(promptCapabilities?.image === true ? ['take images'] : []),
  ];
}

async function defaultProblems(
  agent: AcpAgent,
  cwd: string,
  defaults: Defaults,
): Promise<string[]> {
  if (Object.keys(wantedByDefault(defaults, [])).length === 0) return [];
  const settings = new Settings();
  try {
    const answer = await agent.open('session/new', { cwd, mcpServers: [] });
    settings.read(answer);
    await forget(agent, answer);
  } catch (error) {
    const answer = readRpcError(error);
    if (answer?.code !== rpc.authRequired) return [describeError(error)];
    return [authSentence('It', agent.authMethods, answer)];
  }
  const wanted = Object.entries(wantedByDefault(defaults, settings.options));
  return wanted.flatMap(([id, value]) => {
    try {
      findChoice(settings.options, id, value);
      return [];
    } catch (error) {
      return [defaultProblem(error)];
    }
  });
}

/** Deletes the session from the agent's store, if the agent can do that. */
async function forget(agent: AcpAgent, begun: unknown): Promise<void> {
  if (agent.capabilities.sessionCapabilities?.delete !== true || !isRecord(begun)) return;
  const { sessionId } = begun;
  await agent.request('session/delete', { sessionId }).catch(() => undefined);
}
