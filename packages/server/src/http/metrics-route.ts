import { SessionState, type SessionSummary } from '@liminal/protocol';
import type { Runtime, RuntimeMetrics } from '@liminal/runtime';
import { Gauge, Registry } from 'prom-client';
import type { Connections } from '../connections.ts';
import type { App } from './schema.ts';

interface Options {
  runtime: Runtime;
  connections: Connections;
}

/** Gauges of the process and its sessions in Prometheus' text format. */
export async function metricsRoute(app: App, { runtime, connections }: Options) {
  const sessions = new Map<string, SessionSummary>();
  // No agent is started only to count its own sessions.
  const options = { ownOnly: true };
  const stopWatching = runtime.watchSessions(({ sessions: changed, removed }) => {
    for (const session of changed) sessions.set(session.sessionId, session);
    for (const id of removed) sessions.delete(id);
  }, options);
  app.addHook('onClose', stopWatching);

  app.get('/metrics', async (_request, reply) => {
    const registry = gauges(connections, [...sessions.values()], await runtime.metrics());
    reply.type(registry.contentType);
    // Without the empty lines.
    return (await registry.metrics()).replaceAll('\n\n', '\n');
  });
}

/** The present values. */
function gauges(
  { open, subscriptions }: Connections,
  sessions: readonly SessionSummary[],
  { openRuns, backlogRuns, lagEvents }: RuntimeMetrics,
): Registry {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, value: number) =>
    new Gauge({ name, help, registers }).set(value);

  const { rss, heapUsed } = process.memoryUsage();
  gauge('process_resident_memory_bytes', 'Memory held by the server.', rss);
  gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.', heapUsed);
  gauge('process_uptime_seconds', 'Time since the server started.', process.uptime());

  gauge('liminal_websockets', 'Open WebSockets.', open.websocket);
  gauge('liminal_event_streams', 'Open streams of server-sent events.', open.sse);
  gauge('liminal_subscriptions', 'Sessions followed, over all connections.', subscriptions);

  const active = sessions.filter((session) => session.active);
  const labelNames = ['state'];
  const help = 'Open sessions by state.';
  const byState = new Gauge({ name: 'liminal_sessions', help, labelNames, registers });
  for (const state of SessionState.options) {
    byState.set({ state }, active.filter((session) => session.state === state).length);
  }
  const alive = active.filter((session) => session.isAlive).length;
  gauge('liminal_agents_alive', 'Sessions whose agent process runs.', alive);

  gauge('liminal_runs_open', 'Runs under way, on all servers.', openRuns);
  gauge(
    'liminal_projector_backlog_runs',
    'Runs that have ended and are not in history yet, on all servers.',
    backlogRuns,
  );
  gauge(
    'liminal_projector_lag_events',
    'Events that history lacks of the runs that this server brings there.',
    lagEvents,
  );
  return registry;
}
