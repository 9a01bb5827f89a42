import { SessionState, type SessionSummary } from '@liminal/protocol';
import type { Runtime, RuntimeMetrics } from '@liminal/runtime';
import type { Connections } from '../connections.ts';
import type { App } from './schema.ts';

interface Options {
  runtime: Runtime;
  connections: Connections;
}

/** Gauges of the process and its sessions in Prometheus' text format. */
export async function metricsRoute(app: App, { runtime, connections }: Options) {
  const sessions = new Map<string, SessionSummary>();
  // To count sessions, no agent is started to be asked for its own.
  const options = { ownOnly: true };
  const stopWatching = runtime.watchSessions(({ sessions: changed, removed }) => {
    for (const session of changed) sessions.set(session.sessionId, session);
    for (const id of removed) sessions.delete(id);
  }, options);
  app.addHook('onClose', stopWatching);

  app.get('/metrics', async (_request, reply) => {
    reply.type('text/plain; version=0.0.4; charset=utf-8');
    return [
      ...processGauges(),
      ...connectionGauges(connections),
      ...sessionGauges(sessions),
      ...runGauges(await runtime.metrics()),
    ]
      .flatMap(({ name, help, values }) => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} gauge`,
        ...values.map(([labels, value]) => `${name}${labels} ${value}`),
      ])
      .concat('')
      .join('\n');
  });
}

interface Gauge {
  name: string;
  help: string;
  values: [labels: string, value: number][];
}

function gauge(name: string, help: string, value: number): Gauge {
  return { name, help, values: [['', value]] };
}

function processGauges(): Gauge[] {
  const { rss, heapUsed } = process.memoryUsage();
  return [
    gauge('process_resident_memory_bytes', 'Memory held by the server.', rss),
    gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.', heapUsed),
    gauge('process_uptime_seconds', 'Time since the server started.', process.uptime()),
  ];
}

function connectionGauges({ open, subscriptions }: Connections): Gauge[] {
  return [
    gauge('liminal_websockets', 'Open WebSockets.', open.websocket),
    gauge('liminal_event_streams', 'Open streams of server-sent events.', open.sse),
    gauge('liminal_subscriptions', 'Sessions followed, over all connections.', subscriptions),
  ];
}

function runGauges({ openRuns, backlogRuns, lagEvents }: RuntimeMetrics): Gauge[] {
  return [
    gauge('liminal_runs_open', 'Runs under way, on all servers.', openRuns),
    gauge(
      'liminal_projector_backlog_runs',
      'Runs that have ended and are not in history yet, on all servers.',
      backlogRuns,
    ),
    gauge(
      'liminal_projector_lag_events',
      'Events that history lacks of the runs that this server brings there.',
      lagEvents,
    ),
  ];
}

function sessionGauges(sessions: Map<string, SessionSummary>): Gauge[] {
  const active = [...sessions.values()].filter((session) => session.active);
  const count = (state: SessionState) => active.filter((each) => each.state === state).length;
  const alive = active.filter((session) => session.isAlive).length;
  return [
    {
      name: 'liminal_sessions',
      help: 'Open sessions by state.',
      values: SessionState.options.map((state) => [`{state="${state}"}`, count(state)]),
    },
    gauge('liminal_agents_alive', 'Sessions whose agent process runs.', alive),
  ];
}
