import { monitorEventLoopDelay } from 'node:perf_hooks';
import { SessionState, type SessionSummary } from '@liminal/protocol';
import type { Runtime, RuntimeGauges, RuntimeMetrics } from '@liminal/runtime';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Connections } from '../connections.ts';
import type { App } from '../http/schema.ts';
import type { Metrics } from './metrics.ts';

interface MetricsRouteOptions {
  runtime: Runtime;
  connections: Connections;
  metrics: Metrics;
}

/**
 * The interval at which the delay of the event loop is measured, in ms; not shorter, because each measurement wakes the
 * process.
 */
const loopMs = 50;
/** Nanoseconds to seconds. */
const nano = 1e-9;

/** Serves the counters, and the current state of the process and its sessions, in Prometheus' text format. */
export async function metricsRoute(
  app: App,
  { runtime, connections, metrics }: MetricsRouteOptions,
) {
  const sessions = new Map<string, SessionSummary>();
  // Counts only sessions that are known without starting an agent.
  const options = { ownOnly: true };
  const stopWatching = runtime.subscribeToSessionList(({ sessions: changed, removed }) => {
    for (const session of changed) sessions.set(session.sessionId, session);
    for (const id of removed) sessions.delete(id);
  }, options);
  const loop = monitorEventLoopDelay({ resolution: loopMs });
  loop.enable();
  app.addHook('onClose', () => {
    stopWatching();
    loop.disable();
  });

  app.get('/metrics', async (_request, reply) => {
    const now = new Registry();
    processGauges(now);
    loopGauges(now, loop);
    connectionGauges(now, connections);
    sessionGauges(now, [...sessions.values()]);
    runtimeGauges(now, await runtime.gauges());
    // If Redis fails, all other metrics are still sent.
    await runtime
      .metrics()
      .then((historyMetrics) => historyGauges(now, historyMetrics), ignoreError);
    reply.type(now.contentType);
    const all = await Registry.merge([metrics.registry, now]).metrics();
    // Leave out empty lines.
    return all.replaceAll('\n\n', '\n');
  });
}

function ignoreError(): void {}

function gaugesOf(registry: Registry) {
  const registers = [registry];
  return (name: string, help: string, value: number) =>
    new Gauge({ name, help, registers }).set(value);
}

function processGauges(registry: Registry): void {
  const gauge = gaugesOf(registry);
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  gauge('process_resident_memory_bytes', 'Memory held by the server.', rss);
  gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.', heapUsed);
  gauge('process_uptime_seconds', 'Time since the server started.', process.uptime());
  const help = 'Processor time that the server has used.';
  new Counter({ name: 'process_cpu_seconds_total', help, registers: [registry] }).inc(
    (user + system) / 1e6,
  );
}

/**
 * Gauges of the event loop's delay since the last scrape. The interval between two measurements is subtracted from the
 * delay.
 */
function loopGauges(registry: Registry, loop: ReturnType<typeof monitorEventLoopDelay>): void {
  const gauge = gaugesOf(registry);
  const delay = (nanoseconds: number): number => Math.max(0, nanoseconds * nano - loopMs / 1_000);
  gauge(
    'nodejs_eventloop_delay_p99_seconds',
    'Delay of the event loop: the 99th percentile since the last scrape.',
    delay(loop.percentile(99)),
  );
  gauge(
    'nodejs_eventloop_delay_max_seconds',
    'Delay of the event loop: the maximum since the last scrape.',
    delay(loop.max),
  );
  loop.reset();
}

function connectionGauges(registry: Registry, { open, subscriptions }: Connections): void {
  const gauge = gaugesOf(registry);
  gauge('liminal_websockets', 'Open WebSockets.', open.websocket);
  gauge('liminal_event_streams', 'Open streams of server-sent events.', open.sse);
  gauge('liminal_acp_http_connections', 'Open ACP connections over HTTP.', open.acpHttp);
  gauge('liminal_subscriptions', 'Session subscriptions of all connections.', subscriptions);
}

function sessionGauges(registry: Registry, sessions: readonly SessionSummary[]): void {
  const active = sessions.filter((session) => session.active);
  const byState = new Gauge({
    name: 'liminal_sessions',
    help: 'Open sessions by state, on all servers.',
    labelNames: ['state'],
    registers: [registry],
  });
  for (const state of SessionState.options) {
    byState.set({ state }, active.filter((session) => session.state === state).length);
  }
  const alive = active.filter((session) => session.isAlive).length;
  const help = 'Sessions whose agent process runs, on all servers.';
  gaugesOf(registry)('liminal_agents_alive', help, alive);
}

function runtimeGauges(registry: Registry, gauges: RuntimeGauges): void {
  const gauge = gaugesOf(registry);
  gauge('liminal_turns_running', 'Turns under way on this server.', gauges.turns);
  gauge(
    'liminal_queued_messages',
    'Queued messages of the sessions that this server has in memory.',
    gauges.queuedMessages,
  );
  gauge(
    'liminal_approvals_waiting',
    'Permission requests on this server that wait for an answer.',
    gauges.approvalsWaiting,
  );
  gauge(
    'liminal_readers',
    'Subscribers of sessions, counted once for each session.',
    gauges.subscribers,
  );
  gauge(
    'liminal_readers_behind',
    'Subscribers with a slow connection: they get fewer, newer states.',
    gauges.slowSubscribers,
  );
  agentGauges(registry, gauges.agents ?? []);
}

function agentGauges(registry: Registry, agents: NonNullable<RuntimeGauges['agents']>): void {
  const shared = { labelNames: ['agent'], registers: [registry] };
  const processes = new Gauge({
    ...shared,
    name: 'liminal_agent_processes',
    help: 'Processes of agents, with all processes that they started, by agent type; `tools` are those of bare models. Only on Linux: on other systems, Liminal cannot recognise the processes of agents.',
  });
  const memory = new Gauge({
    ...shared,
    name: 'liminal_agent_resident_memory_bytes',
    help: 'Resident memory of the processes of agents; memory that processes share is counted for each.',
  });
  for (const { cliType: agent, processes: count, residentBytes } of agents) {
    processes.set({ agent }, count);
    memory.set({ agent }, residentBytes);
  }
}

function historyGauges(registry: Registry, { openRuns, backlogRuns, lagEvents }: RuntimeMetrics) {
  const gauge = gaugesOf(registry);
  gauge('liminal_runs_open', 'Runs under way, on all servers.', openRuns);
  gauge(
    'liminal_projector_backlog_runs',
    'Runs that have ended but are not in history yet, on all servers.',
    backlogRuns,
  );
  gauge(
    'liminal_projector_lag_events',
    'Events not yet in history, of the runs that this server projects.',
    lagEvents,
  );
}
