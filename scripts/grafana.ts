/**
 * `node scripts/grafana.ts` writes the Grafana dashboard of docs/operations.md. A test checks that the file is up to
 * date.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const boardPath = fileURLToPath(new URL('../docs/grafana.json', import.meta.url));

interface Panel {
  title: string;
  unit: string;
  /** Each query of the panel, by the label that the query's line has in the legend. */
  queries: Record<string, string>;
}

const rate = (metric: string): string => `rate(${metric}[$__rate_interval])`;
const quantile = (share: number, metric: string, by: string): string =>
  `histogram_quantile(${share}, sum by (le, ${by}) (${rate(`${metric}_bucket`)}))`;

const rows: Record<string, Panel[]> = {
  Turns: [
    {
      title: 'Turns that end, per second',
      unit: 'ops',
      queries: {
        '{{agent}} {{status}}': `sum by (agent, status) (${rate('liminal_turns_total')})`,
      },
    },
    {
      title: 'Errors of turns, per second',
      unit: 'ops',
      queries: {
        '{{agent}} {{code}}': `sum by (agent, code) (${rate('liminal_turn_errors_total')})`,
      },
    },
    {
      title: 'Time to the first words',
      unit: 's',
      queries: {
        '{{agent}} {{model}} half': quantile(0.5, 'liminal_first_text_seconds', 'agent, model'),
        '{{agent}} {{model}} 95 %': quantile(0.95, 'liminal_first_text_seconds', 'agent, model'),
      },
    },
    {
      title: 'Time to the end',
      unit: 's',
      queries: {
        '{{agent}} {{model}} half': quantile(0.5, 'liminal_turn_seconds', 'agent, model'),
        '{{agent}} {{model}} 95 %': quantile(0.95, 'liminal_turn_seconds', 'agent, model'),
      },
    },
    {
      title: 'Tokens, per second',
      unit: 'short',
      queries: {
        '{{agent}} {{model}} {{kind}}': `sum by (agent, model, kind) (${rate('liminal_tokens_total')})`,
      },
    },
    {
      title: 'Cost in an hour',
      unit: 'currencyUSD',
      queries: {
        '{{agent}} {{model}}': 'sum by (agent, model) (increase(liminal_cost_dollars_total[1h]))',
      },
    },
  ],
  'Sessions and people': [
    {
      title: 'Sessions by state',
      unit: 'short',
      queries: { '{{state}}': 'max by (state) (liminal_sessions)' },
    },
    {
      title: 'What waits',
      unit: 'short',
      queries: {
        'turns under way': 'sum(liminal_turns_running)',
        'messages in queues': 'sum(liminal_queued_messages)',
        'permission requests': 'sum(liminal_approvals_waiting)',
      },
    },
    {
      title: 'How long permission requests wait',
      unit: 's',
      queries: { '{{agent}} half': quantile(0.5, 'liminal_approval_wait_seconds', 'agent') },
    },
    {
      title: 'Readers',
      unit: 'short',
      queries: {
        readers: 'sum(liminal_readers)',
        'of these behind': 'sum(liminal_readers_behind)',
        WebSockets: 'sum(liminal_websockets)',
        'event streams': 'sum(liminal_event_streams)',
        'ACP over HTTP': 'sum(liminal_acp_http_connections)',
      },
    },
  ],
  'Log and history': [
    {
      title: 'How long the log takes',
      unit: 's',
      queries: {
        '{{instance}} half': quantile(0.5, 'liminal_log_append_seconds', 'instance'),
        '{{instance}} 99 %': quantile(0.99, 'liminal_log_append_seconds', 'instance'),
      },
    },
    {
      title: 'Refusals of the log, per second',
      unit: 'ops',
      queries: { '{{instance}}': `sum by (instance) (${rate('liminal_log_refusals_total')})` },
    },
    {
      title: 'Runs that are not in history',
      unit: 'short',
      queries: {
        'under way': 'max(liminal_runs_open)',
        ended: 'max(liminal_projector_backlog_runs)',
        'events behind': 'sum(liminal_projector_lag_events)',
      },
    },
    {
      title: 'Refused requests, per second',
      unit: 'ops',
      queries: { '{{code}}': `sum by (code) (${rate('liminal_http_refusals_total')})` },
    },
  ],
  Processes: [
    {
      title: 'Memory of agents',
      unit: 'bytes',
      queries: { '{{agent}}': 'sum by (agent) (liminal_agent_resident_memory_bytes)' },
    },
    {
      title: 'Processes of agents',
      unit: 'short',
      queries: {
        '{{agent}}': 'sum by (agent) (liminal_agent_processes)',
        'sessions with an agent': 'max(liminal_agents_alive)',
      },
    },
    {
      title: 'Memory of the servers',
      unit: 'bytes',
      queries: {
        '{{instance}}': 'process_resident_memory_bytes{job=~"$job"}',
        '{{instance}} heap': 'nodejs_heap_size_used_bytes{job=~"$job"}',
      },
    },
    {
      title: 'How busy the servers are',
      unit: 'percentunit',
      queries: {
        '{{instance}} processor': 'rate(process_cpu_seconds_total{job=~"$job"}[$__rate_interval])',
      },
    },
    {
      title: 'How late the servers come to new work',
      unit: 's',
      queries: {
        '{{instance}} 99 %': 'nodejs_eventloop_delay_p99_seconds{job=~"$job"}',
        '{{instance}} longest': 'nodejs_eventloop_delay_max_seconds{job=~"$job"}',
      },
    },
    {
      title: 'Time since the start',
      unit: 's',
      queries: { '{{instance}}': 'process_uptime_seconds{job=~"$job"}' },
    },
  ],
};

const datasource = { type: 'prometheus', uid: '${DS_PROMETHEUS}' };
const letters = 'ABCDEFGH';
const width = 12;
const height = 8;

/** Returns the dashboard in Grafana's import format. On import, Grafana asks which Prometheus to use. */
export function board() {
  return {
    __inputs: [
      {
        name: 'DS_PROMETHEUS',
        label: 'Prometheus',
        type: 'datasource',
        pluginId: 'prometheus',
        pluginName: 'Prometheus',
      },
    ],
    __requires: [{ type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' }],
    uid: 'liminal',
    title: 'Liminal',
    tags: ['liminal'],
    schemaVersion: 39,
    timezone: 'browser',
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: {
      list: [
        {
          name: 'job',
          label: 'Job',
          type: 'query',
          datasource,
          query: 'label_values(liminal_websockets, job)',
          refresh: 2,
          includeAll: true,
          multi: true,
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels: panels(),
  };
}

function panels() {
  let id = 0;
  let y = 0;
  return Object.entries(rows).flatMap(([title, inRow]) => {
    id += 1;
    const row = {
      id,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: 24, x: 0, y },
    };
    y += 1;
    const placed = inRow.map((panel, index) => {
      id += 1;
      const gridPos = {
        h: height,
        w: width,
        x: (index % 2) * width,
        y: y + Math.floor(index / 2) * height,
      };
      return timeSeries(panel, id, gridPos);
    });
    y += Math.ceil(inRow.length / 2) * height;
    return [row, ...placed];
  });
}

function timeSeries({ title, unit, queries }: Panel, id: number, gridPos: object) {
  return {
    id,
    type: 'timeseries',
    title,
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
      refId: letters.charAt(index),
      datasource,
      expr,
      legendFormat,
    })),
  };
}

/** Returns the text of the dashboard's file. */
export const boardText = (): string => `${JSON.stringify(board(), undefined, 2)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(boardPath, boardText());
