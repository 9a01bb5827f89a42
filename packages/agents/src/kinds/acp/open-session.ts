/** Opens a session of an agent: a new session, or an earlier session again. */
import type { McpServers } from '@liminal/protocol';
import type { McpServer } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { EarlierSession } from '../../contract/driver.ts';
import { errors, ProviderError } from '../../contract/errors.ts';
import type { AcpAgent } from './acp-agent.ts';
import { AcpSession, type AcpSessionOptions } from './acp-session.ts';
import { authSentence, describeError, isInUse, readRpcError, rpc } from './errors.ts';
import { defaultProblem, settingProblem, wantedByDefault, type Defaults } from './defaults.ts';
import { admitMcpServers, mayBeLeftOut } from './mcp-servers.ts';
import { storedMark } from './stored-mark.ts';

export interface Opening {
  session: Omit<AcpSessionOptions, 'agent' | 'agentSessionId'>;
  defaults: Defaults;
  mcpServers: McpServers;
  /** How long the agent may take to open the session, ms. */
  limitMs: number;
  signal: AbortSignal;
}

export interface Continuation extends Omit<EarlierSession, 'memory'> {
  sessionId: string;
  config: Record<string, string>;
}

const Begun = z.looseObject({ sessionId: z.string().min(1) });

interface Beginning {
  config?: Record<string, string> | undefined;
  /** Whether to skip settings that the agent does not have. */
  isLenient?: boolean;
  /** Notices for the first turn. */
  notices?: readonly string[];
}

/** Opens a session by `session/new`. Throws `SESSION_CREATE_FAILED`. */
export function beginSession(
  opening: Opening,
  { config = {}, isLenient = false, notices = [] }: Beginning = {},
): Promise<AcpSession> {
  return withAgent(opening, async (agent) => {
    const session = await requestNewSession(opening, agent, notices);
    await configure(opening, session, config, isLenient);
    return session;
  });
}

/**
 * Opens an earlier session by `session/resume`, or else by `session/load`. If the agent has lost the session, opens a
 * new session: otherwise the session could never be used again. Throws `SESSION_NOT_FOUND`, `SESSION_CREATE_FAILED`.
 */
export async function continueSession(
  opening: Opening,
  earlier: Continuation,
): Promise<AcpSession> {
  const session = await reopenOrBegin(opening, earlier);
  session.startReplay();
  return session;
}

async function reopenOrBegin(opening: Opening, earlier: Continuation): Promise<AcpSession> {
  const { config } = earlier;
  const { name } = opening.session;
  let lost: { error: unknown; agent: AcpAgent } | undefined;
  try {
    return await withAgent(
      opening,
      (agent) => reopen(opening, agent, earlier),
      (error, agent) => {
        lost = { error, agent };
      },
    );
  } catch (failure) {
    if (lost === undefined) throw failure;
    const problem = resumeProblem(name, lost.error, lost.agent);
    if (!(await isLostForGood(opening, earlier, lost.error))) {
      if (!isUnknown(earlier, lost.error)) throw failure;
      throw errors.SESSION_NOT_FOUND.because(problem, { cause: lost.error });
    }
    const notices = [
      `${problem} ${name} starts a new session and does not know what was said before.`,
    ];
    return beginSession(opening, { config, isLenient: true, notices });
  }
}

function resumeProblem(name: string, error: unknown, agent: AcpAgent): string {
  const rpcError = readRpcError(error);
  if (rpcError?.code === rpc.notFound) return errors.SESSION_NOT_FOUND.lost(name).message;
  const reason = rpcError === undefined ? agent.explain(error) : describeError(error);
  return `${name} could not resume this session. ${reason}`.replace(/(?<![.!?])$/, '.');
}

async function reopen(
  opening: Opening,
  agent: AcpAgent,
  earlier: Continuation,
): Promise<AcpSession> {
  const { name, projectDir } = opening.session;
  const { sessionId, agentSessionId, config } = earlier;
  const { loadSession: canLoad, sessionCapabilities } = agent.capabilities;
  const canResume = sessionCapabilities?.resume === true;
  let session: AcpSession;
  if (canLoad === true || canResume) {
    const id = agentSessionId ?? sessionId;
    const mark = canLoad && canResume ? await storedMark(agent, id, projectDir) : undefined;
    // A replay costs time: request a replay only if it may contain new turns.
    const isKnown = mark === undefined || mark === earlier.storedMark;
    session = await resume(opening, agent, id, canResume && isKnown ? undefined : earlier);
  } else if (agentSessionId !== undefined) {
    const notice = `${name} cannot resume earlier sessions: it does not know what was said before.`;
    session = await requestNewSession(opening, agent, [notice]);
  } else {
    throw errors.SESSION_NOT_FOUND.unknown(name, sessionId);
  }
  await configure(opening, session, config, true);
  return session;
}

/**
 * Returns whether the agent has lost its earlier session. False if the sign-in is missing, or another client has the
 * session open: people can correct both. Also false if the agent has never answered in the session, because such a
 * session has no content to replace.
 */
async function isLostForGood(
  { signal }: Opening,
  { agentSessionId, hasAnswered }: Continuation,
  error: unknown,
): Promise<boolean> {
  if (error instanceof ProviderError || signal.aborted) return false;
  const code = readRpcError(error)?.code;
  if (code === rpc.authRequired || isInUse(error)) return false;
  const mayNotExist = code === rpc.notFound || agentSessionId === undefined;
  return !mayNotExist || (await hasAnswered?.()) === true;
}

/**
 * Returns whether an error counts as “session not found”. Few agents report “session not found”, so every refusal
 * counts if Liminal does not know the agent's session id.
 */
function isUnknown({ agentSessionId }: Continuation, error: unknown): boolean {
  const code = readRpcError(error)?.code;
  return agentSessionId === undefined && code !== undefined && code !== rpc.authRequired;
}

async function requestNewSession(
  opening: Opening,
  agent: AcpAgent,
  notices: readonly string[],
): Promise<AcpSession> {
  const { servers, notices: refusals } = mcp(opening, agent);
  const params = { ...foldersOf(opening, agent), mcpServers: servers };
  return agent.begin(params, (answer) => {
    const agentSessionId = Begun.safeParse(answer).data?.sessionId;
    if (agentSessionId === undefined)
      throw new Error('The agent’s answer to “session/new” names no session.');
    const session = new AcpSession({ ...opening.session, agent, agentSessionId });
    session.open(answer, { how: 'begun' }, [...new Set([...notices, ...refusals])]);
    agent.admit(agentSessionId, session);
    return session;
  });
}

/** Opens a session: by `session/load` with a replay if `replayed` is given, otherwise by `session/resume`. */
async function resume(
  opening: Opening,
  agent: AcpAgent,
  agentSessionId: string,
  replayed: Continuation | undefined,
): Promise<AcpSession> {
  const { servers, notices } = mcp(opening, agent);
  const folders = foldersOf(opening, agent);
  const session = new AcpSession({ ...opening.session, agent, agentSessionId });
  agent.admit(agentSessionId, session);
  try {
    const params = { sessionId: agentSessionId, ...folders, mcpServers: servers };
    const isReplayDue = (await replayed?.hasAnswered?.()) ?? false;
    const answer = await agent.open(replayed ? 'session/load' : 'session/resume', params);
    session.open(answer, replayed ? { how: 'loaded', isReplayDue } : { how: 'resumed' }, notices);
    return session;
  } catch (error) {
    await agent.leave(agentSessionId);
    throw error;
  }
}

/** Returns the session's folders, as parameters. Throws ProviderError `NOT_SUPPORTED`. */
function foldersOf(
  { session: { name, projectDir: cwd, additionalDirectories } }: Opening,
  { capabilities: { sessionCapabilities } }: AcpAgent,
) {
  if (additionalDirectories.length === 0) return { cwd };
  if (sessionCapabilities?.additionalDirectories !== true)
    throw errors.NOT_SUPPORTED.setDirectories(name);
  return { cwd, additionalDirectories };
}

function mcp(opening: Opening, agent: AcpAgent): { servers: McpServer[]; notices: string[] } {
  const { taken, refused } = admitMcpServers(
    opening.mcpServers,
    agent.capabilities.mcpCapabilities,
  );
  const { name } = opening.session;
  const missing = refused.map((server) => `${name} cannot reach the MCP server “${server}”.`);
  const doubtful = mayBeLeftOut(opening.mcpServers, agent.title)
    .filter((server) => !refused.includes(server))
    .map(
      (server) =>
        `${name} may lack the MCP server “${server}”: this agent skips MCP servers that are programs.`,
    );
  return { servers: taken, notices: [...missing, ...doubtful] };
}

/** Changes settings to the wanted values. Settings that fail are reported and skipped. */
async function configure(
  { defaults }: Opening,
  session: AcpSession,
  config: Record<string, string>,
  isLenient: boolean,
): Promise<void> {
  const wanted = { ...wantedByDefault(defaults, session.configOptions), ...config };
  const problems: string[] = [];
  for (const [id, value] of Object.entries(wanted)) {
    if (session.config[id] === value) continue;
    try {
      await session.setConfigOption(id, value);
    } catch (error) {
      if (id in config && !isLenient) throw error;
      problems.push(id in config ? settingProblem(error) : defaultProblem(error));
    }
  }
  if (problems.length > 0) session.warn(problems);
}

/** Runs `work` with an agent within the limit; after a failure, returns the agent to the pool. */
async function withAgent(
  opening: Opening,
  work: (agent: AcpAgent) => Promise<AcpSession>,
  onFailure?: (error: unknown, agent: AcpAgent) => void,
): Promise<AcpSession> {
  const { signal, limitMs, session } = opening;
  const { pool } = session;
  const agent = await pool.take(session.projectDir, signal).catch((error: unknown) => {
    throw startError(opening, describeError(error), error);
  });
  const opened = work(agent);
  try {
    return await agent.within(limitMs, opened, signal, tooSlow(limitMs));
  } catch (error) {
    // In a shared process, the session may still open later. Close the session in that case.
    opened.then(
      (late) => agent.leave(late.agentSessionId),
      () => undefined,
    );
    await pool.release(agent, false);
    onFailure?.(error, agent);
    throw readFailure(opening, agent, error);
  }
}

const tooSlow = (limitMs: number): string =>
  `The agent opened no session within ${limitMs / 1_000} s. If the agent is slow, for example with many MCP servers, raise “openLimitMs”.`;

function readFailure(opening: Opening, agent: AcpAgent, error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const { name } = opening.session;
  const rpcError = readRpcError(error);
  if (rpcError === undefined) return startError(opening, agent.explain(error), error);
  if (rpcError.code === rpc.authRequired) {
    const message = authSentence(name, agent.authMethods, rpcError);
    return errors.SESSION_CREATE_FAILED.because(message, { cause: error });
  }
  if (rpcError.code === rpc.notFound) {
    return errors.SESSION_NOT_FOUND.lost(name, { cause: error });
  }
  return startError(opening, describeError(error), error);
}

function startError({ session }: Opening, reason: string, cause: unknown): ProviderError {
  const { name, projectDir } = session;
  return errors.SESSION_CREATE_FAILED.notStartedIn(name, projectDir, reason, { cause });
}
