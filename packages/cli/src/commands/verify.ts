/** Checks an agent from end to end: the agent, log, history and traces (seed 001, A.6). */
import { randomBytes, randomUUID } from 'node:crypto';
import { createRequests } from '@liminal/client';
import { hideUrlSecrets, thrownMessage, type Response, writeTraceparent } from '@liminal/protocol';
import { errors } from '../errors.ts';
import { createAgents } from '../agents.ts';
import type { Config } from '../config/load.ts';
import { type ServerConnection, connect } from '../connect.ts';
import type { Finding } from '../finding.ts';
import { findTrace, type TraceStore, traceStore } from '../verify/find-trace.ts';
import { checkHistory } from '../verify/history-check.ts';
import { Leftovers } from '../verify/leftovers.ts';
import { readRun } from '../verify/read-run.ts';
import { Report } from '../verify/report.ts';
import { RunCheck } from '../verify/run-check.ts';
import { redisRunLog, serverRunLog } from '../verify/run-log.ts';
import { describeAgent } from './doctor-agents.ts';
import { checkDataFolder, checkNode, checkShared } from './doctor-settings.ts';
import { shorten } from '../terminal/lines.ts';
import { readSetting } from './run.ts';

export interface VerifyFlags {
  agent?: string;
  prompt: string;
  /** Config options of the agent, each `id=value`. */
  set?: string[];
  /** How long the turn may take, in seconds. */
  timeout: string;
  /** The URL of a trace; `{traceId}` in the URL stands for the trace's id. */
  findTrace?: string;
  /** Print JSON, one object per line. */
  json?: boolean;
}

/** The flags after they were checked and parsed. */
interface ParsedFlags {
  agent: string;
  prompt: string;
  settings: [id: string, value: string][];
  limitMs: number;
  store: TraceStore | undefined;
}

interface Check extends ParsedFlags {
  config: Config;
  connection: ServerConnection;
  report: Report;
  /** The `AbortSignal` that ends the check early. */
  stop: AbortSignal;
}

/** How long a run may take to reach history after its end, in ms. */
const historyMs = 30_000;
/** How long a trace may take to reach the trace store, in ms. */
const traceMs = 60_000;

/**
 * Sends a prompt through an agent. Checks the settings, log, history and traces. Then deletes the session, run and
 * folder that the check made. Returns 1 if a check fails. Throws ConfigError.
 */
export async function verify(flags: VerifyFlags, config: Config): Promise<number> {
  const parsedFlags = parseFlags(flags, config);
  const report = new Report(flags.json ?? false);
  const stop = stopSignal();
  report.addFindings(checkNode(), checkDataFolder(config.dataDir));
  report.addFindings(...(config.telemetry?.problems ?? []).map(bad));
  if (config.shared) report.addFindings(...(await checkShared(config.shared)));
  if (report.hasFailed) return report.end(parsedFlags.agent);
  await runPart(report, stop, async () => {
    const connection = await connect(config);
    try {
      await checkServer({ ...parsedFlags, config, connection, report, stop });
    } finally {
      await connection.close();
    }
  });
  return report.end(parsedFlags.agent);
}

function parseFlags(flags: VerifyFlags, config: Config): ParsedFlags {
  const types = createAgents(config)
    .list()
    .map(({ cliType }) => cliType);
  const { agent, prompt, timeout } = flags;
  if (agent === undefined) throw errors.INVALID_CONFIG.agentMissing(types);
  if (!types.includes(agent)) throw errors.INVALID_CONFIG.unknownAgent(agent, types);
  const seconds = Number(timeout);
  if (!(seconds > 0 && seconds <= 86_400)) {
    throw errors.INVALID_CONFIG.timeout(timeout);
  }
  if (prompt.trim() === '') throw errors.INVALID_CONFIG.emptyFlag('--prompt');
  return {
    agent,
    prompt,
    settings: (flags.set ?? []).map(readSetting),
    limitMs: seconds * 1_000,
    store: traceStore(config.telemetry?.langfuse, flags.findTrace),
  };
}

/**
 * Returns an AbortSignal. The first signal of the system to the process aborts the AbortSignal; a second signal ends
 * the process as usual.
 */
function stopSignal(): AbortSignal {
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => stopped.abort());
  }
  return stopped.signal;
}

/** Runs one step of the check. An error is reported as a failure of that step. */
async function runPart(
  report: Report,
  stop: AbortSignal,
  part: () => Promise<void>,
): Promise<void> {
  try {
    await part();
  } catch (error) {
    const text = stop.aborted ? 'The check was stopped.' : hideUrlSecrets(thrownMessage(error));
    report.addFindings(bad(text));
  }
}

async function checkServer(check: Check): Promise<void> {
  const { report, connection, agent, stop } = check;
  const { requests } = connection.client;
  const agents = await requests.listAgents();
  report.addFindings(
    good(
      connection.isShared
        ? `A server runs at ${connection.url}`
        : 'No server runs: one was started for this check',
    ),
  );
  const info = agents.find(({ cliType }) => cliType === agent);
  if (info) report.addFindings(asNeeded(describeAgent(info), info.available));
  if (report.hasFailed) return;
  const leftovers = new Leftovers(requests);
  try {
    await runPart(report, stop, async () => checkTurn(check, leftovers));
  } finally {
    report.addFindings(...(await leftovers.remove()));
  }
}

/**
 * Returns the finding as this check needs it: an agent that cannot run is a failure, because the check needs the agent.
 */
function asNeeded(finding: Finding, isAvailable: boolean): Finding {
  return isAvailable ? finding : { ...finding, verdict: 'bad' };
}

async function checkTurn(check: Check, leftovers: Leftovers): Promise<void> {
  const { config, connection, report, agent, stop } = check;
  const { requests } = connection.client;
  const projectDir = await leftovers.makeFolder(config.roots);
  const { sessionId } = await requests.createSession({ cliType: agent, projectDir });
  leftovers.addSession(sessionId);
  for (const [id, value] of check.settings) await requests.setConfig(sessionId, id, value);
  stop.throwIfAborted();

  const runId = randomUUID();
  const log = config.shared
    ? await redisRunLog(config.shared, runId)
    : serverRunLog(connection, runId);
  leftovers.addRun(log, runId);
  const request = { traceId: hex(16), spanId: hex(8), isSampled: true };
  report.trace(request.traceId);
  const streams = !(agent in config.agents);
  const run = new RunCheck({ sessionId, runId, request, streams, how: log.how });
  const traced = createRequests({
    baseUrl: connection.url,
    token: connection.token,
    traceparent: writeTraceparent(request),
  });
  const send = async () => traced.send(sessionId, check.prompt, runId);
  const session = connection.client.session(sessionId);
  const waitsFor = () => session.getSnapshot().info?.activity;
  const begun = performance.now();
  const trouble = await readRun(log, run, { requests, runId, send, waitsFor, ...check });
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  if (trouble !== undefined) throw errors.RUN_UNREAD.because(trouble);
  if (run.run?.status === 'complete') {
    report.addFindings(good(`The agent answered within ${seconds} s: “${shorten(run.text)}”`));
  }
  report.addFindings(...run.findings());
  if (run.run) await checkHistoryAndTrace(check, run.run, request.traceId);
}

/** Checks the run's history and trace. */
async function checkHistoryAndTrace(
  { connection, config, limitMs, report, stop: signal, store }: Check,
  run: Response,
  traceId: string,
): Promise<void> {
  await runPart(report, signal, async () => {
    const forMs = Math.min(limitMs, historyMs);
    const isShared = config.shared !== undefined;
    await checkHistory(connection.client.requests, run, { forMs, signal, isShared });
    report.addFindings(good('History matches the run’s events'));
  });
  if (signal.aborted) return;
  if (!store) {
    const text =
      'The trace was not checked: set LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY and LANGFUSE_HOST, or use --find-trace';
    return report.addFindings({ verdict: 'poor', text });
  }
  await runPart(report, signal, async () => {
    await findTrace(store, traceId, { forMs: Math.min(limitMs, traceMs), signal });
    report.addFindings(good(`${store.name} has the trace`));
  });
}

const good = (text: string): Finding => ({ verdict: 'good', text });
const bad = (text: string): Finding => ({ verdict: 'bad', text });

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');
