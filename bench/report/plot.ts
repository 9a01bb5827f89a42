/** Draws a group's figures as one SVG: the measurements, the floor and the limit. */
import { scaleLinear } from 'd3-scale';
import type { Distribution, Group, ReportedFigure } from './report.ts';
import { readable, boundText } from './words.ts';

const plotWidth = 760;
const leftMargin = 80;
const rightMargin = 40;
const head = 34;
const rowHeight = 30;
const axis = 34;
const legend = 30;
/** The most samples that are drawn as dots. More samples are drawn as columns. */
const mostDots = 120;
const columns = 80;
/**
 * A limit that is larger than all measurements by more than this factor is not drawn to scale, because it would leave
 * no space for the measurements.
 */
const far = 3;

const styleSheet = `
svg { --back: #ffffff; --text: #1f2328; --quiet: #59636e; --line: #d1d9e0; --floor: #6e7781; --ours: #0969da; --limit: #cf222e; font: 12px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  svg { --back: #0d1117; --text: #e6edf3; --quiet: #9198a1; --line: #30363d; --floor: #8b949e; --ours: #58a6ff; --limit: #ff7b72; }
}
.back { fill: var(--back); }
text { fill: var(--text); }
.name { font-weight: 600; }
.quiet { fill: var(--quiet); }
.miss { fill: var(--limit); font-weight: 600; }
.grid { stroke: var(--line); }
.floor { fill: var(--floor); stroke: var(--floor); }
.ours { fill: var(--ours); stroke: var(--ours); }
.dot { stroke: none; fill-opacity: 0.6; }
.column { stroke: none; fill-opacity: 0.55; }
.median { stroke-width: 3; }
.p95 { stroke-width: 2; stroke-dasharray: 3 2; }
.limit { stroke: var(--limit); stroke-width: 1.5; stroke-dasharray: 6 3; }
.limit-text { fill: var(--limit); }
.value { fill: var(--text); }
.kept { fill: var(--back); stroke: var(--text); stroke-width: 1.5; }`;

/** One row of a panel: a distribution, or a single value drawn as a bar from zero. */
interface Row {
  label: string;
  kind: 'floor' | 'ours';
  distribution?: Distribution;
  value: number;
}

interface Panel {
  figure: ReportedFigure;
  unit: string;
  limit: number;
  rows: Row[];
  /** The figure's value and the kept value, if they have the unit of this axis. */
  value?: number;
  before?: number | undefined;
}

type Scale = (value: number) => number;

/** Draws a group. The function `before` returns a figure's kept value, if it can be compared. */
export function plotGroup(
  { name, figures }: Group,
  before: (figure: ReportedFigure) => number | undefined = () => undefined,
): string {
  const panels = figures.map((figure) => panelOf(figure, before(figure)));
  let top = legend;
  const drawn = panels.map((panel) => {
    const at = top;
    top += heightOf(panel);
    return `<g transform="translate(0 ${at})">${drawPanel(panel)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${plotWidth}" height="${top}" viewBox="0 0 ${plotWidth} ${top}" role="img">`,
    `<title>${escape(name)}</title><style>${styleSheet}</style>`,
    `<rect class="back" width="${plotWidth}" height="${top}"/>`,
    drawLegend(),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function panelOf(figure: ReportedFigure, before: number | undefined): Panel {
  const { floor, distribution, value, unit, bound } = figure;
  if (floor) {
    const rows: Row[] = [
      { label: 'floor', kind: 'floor', distribution: floor.floor, value: floor.floor.median },
      { label: 'Liminal', kind: 'ours', distribution: floor.ours, value: floor.ours.median },
    ];
    return { figure, unit: floor.unit, limit: floor.limit, rows };
  }
  const limit = 'atMost' in bound ? bound.atMost : bound.atLeast;
  const row: Row = { label: 'Liminal', kind: 'ours', value, ...(distribution && { distribution }) };
  return { figure, unit, limit, rows: [row], value, before };
}

const heightOf = ({ rows }: Panel): number => head + rows.length * rowHeight + axis;

function drawPanel(panel: Panel): string {
  const { figure, rows, value, before } = panel;
  const { scale, ticks, most } = scaleOf(panel);
  const bottom = head + rows.length * rowHeight;
  const verdict = `<tspan class="${figure.verdict === 'ok' ? 'quiet' : 'miss'}">${figure.verdict}</tspan>`;
  return [
    `<text x="8" y="14"><tspan class="name">${escape(figure.name)}</tspan></text>`,
    `<text x="8" y="30" class="quiet">${escape(`${readable(figure.value)} ${figure.unit} (${boundText(figure)})`)} ${verdict}</text>`,
    ...ticks.map(
      (tick) =>
        `<line class="grid" x1="${px(scale(tick))}" x2="${px(scale(tick))}" y1="${head}" y2="${bottom}"/>` +
        `<text class="quiet" x="${px(scale(tick))}" y="${bottom + 14}" text-anchor="middle">${readable(tick)}</text>`,
    ),
    `<text class="quiet" x="${plotWidth - 8}" y="${bottom + 14}" text-anchor="end">${escape(panel.unit)}</text>`,
    ...rows.map((row, index) => drawRow(row, scale, head + index * rowHeight, most)),
    drawLimit(panel, scale, bottom, most),
    value === undefined ? '' : drawValue(scale(value), head + 4),
    before === undefined || before > most ? '' : drawKept(scale(before), bottom - rowHeight / 2),
  ].join('');
}

/** Returns a scale from the smallest to the largest visible value. Larger values are drawn at the edge. */
function scaleOf({ rows, limit, value = limit, before = limit }: Panel) {
  const lows = rows.map(({ distribution }) => distribution?.least ?? 0);
  const highs = rows.map((row) => row.distribution?.p95 ?? row.value);
  const measured = Math.max(...highs, ...[value, before].filter((one) => one !== limit));
  const isFar = limit > measured * far;
  const low = Math.min(...lows, limit, value, before);
  const high = isFar ? measured : Math.max(measured, limit);
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  const linear = scaleLinear()
    .domain([low < room ? Math.min(0, low) : low - room, high + room])
    .range([leftMargin, plotWidth - rightMargin]);
  const scale: Scale = (value) => linear(value);
  return { scale, ticks: linear.ticks(6), most: high + room };
}

function drawRow(row: Row, scale: Scale, top: number, most: number): string {
  const { label, kind, distribution, value } = row;
  const middle = top + rowHeight / 2;
  const text = `<text class="quiet" x="${leftMargin - 8}" y="${middle + 4}" text-anchor="end">${label}</text>`;
  if (distribution === undefined) {
    const left = scale(Math.min(0, value));
    const width = Math.max(2, scale(Math.max(0, value)) - left);
    return `${text}<rect class="column ${kind}" x="${px(left)}" y="${middle - 7}" width="${px(width)}" height="14"/>`;
  }
  const { samples = [], median, p95 } = distribution;
  const shown = samples.filter((sample) => sample <= most);
  const drawn =
    shown.length > mostDots
      ? drawColumns(shown, scale, most, { kind, top })
      : shown.map((sample, index) => drawDot(scale(sample), middle, { kind, index }));
  const beyond = samples.length - shown.length;
  return [
    text,
    ...drawn,
    drawMark(scale(median), middle, `median ${kind}`),
    p95 > most ? '' : drawMark(scale(p95), middle, `p95 ${kind}`),
    beyond === 0
      ? ''
      : `<text class="quiet" x="${plotWidth - rightMargin + 4}" y="${middle + 4}">+${beyond}</text>`,
  ].join('');
}

/** Draws a dot. Dots are spread over the row's height, so that dots with equal values are all visible. */
function drawDot(x: number, middle: number, { kind, index }: { kind: string; index: number }) {
  const offset = ((index * 7) % 15) - 7;
  return `<circle class="dot ${kind}" cx="${px(x)}" cy="${middle + offset}" r="2.5"/>`;
}

function drawColumns(
  samples: readonly number[],
  scale: Scale,
  most: number,
  { kind, top }: { kind: string; top: number },
): string[] {
  const right = scale(most);
  const width = (right - leftMargin) / columns;
  const counts = Array.from({ length: columns }, () => 0);
  for (const sample of samples) {
    const column = Math.min(columns - 1, Math.floor((scale(sample) - leftMargin) / width));
    counts[column] = (counts[column] ?? 0) + 1;
  }
  const highest = Math.max(...counts);
  return counts.flatMap((count, index) => {
    if (count === 0) return [];
    const height = Math.max(1, (count / highest) * (rowHeight - 6));
    return `<rect class="column ${kind}" x="${px(leftMargin + index * width)}" y="${px(top + rowHeight - 3 - height)}" width="${px(width - 0.5)}" height="${px(height)}"/>`;
  });
}

function drawMark(x: number, middle: number, kind: string): string {
  return `<line class="${kind}" x1="${px(x)}" x2="${px(x)}" y1="${middle - 11}" y2="${middle + 11}"/>`;
}

function drawLimit(panel: Panel, scale: Scale, bottom: number, most: number): string {
  const { limit, figure, unit } = panel;
  const said = escape(`limit ${readable(limit)} ${unit}`.trim());
  const isAtMost = 'atMost' in figure.bound;
  const y = bottom + 28;
  if (limit > most)
    return `<text class="limit-text" x="${plotWidth - 8}" y="${y}" text-anchor="end">${said} →</text>`;
  const x = scale(limit);
  const anchor = x > plotWidth / 2 ? 'end' : 'start';
  return (
    `<line class="limit" x1="${px(x)}" x2="${px(x)}" y1="${head - 2}" y2="${bottom + 2}"/>` +
    `<text class="limit-text" x="${px(x)}" y="${y}" text-anchor="${anchor}">${isAtMost ? '≤' : '≥'} ${said}</text>`
  );
}

function drawValue(x: number, y: number): string {
  return `<path class="value" d="M${px(x)} ${y} l-5 -8 l10 0 z"/>`;
}

function drawKept(x: number, y: number): string {
  return `<path class="kept" d="M${px(x)} ${y - 6} l6 6 l-6 6 l-6 -6 z"/>`;
}

function drawLegend(): string {
  const y = 16;
  const key = (x: number, mark: string, text: string): string =>
    `<g transform="translate(${x} 0)">${mark}<text class="quiet" x="14" y="${y + 4}">${text}</text></g>`;
  return [
    key(12, drawDot(4, y, { kind: 'ours', index: 1 }), 'single measurements'),
    key(232, drawMark(4, y, 'median ours'), 'median'),
    key(304, drawMark(4, y, 'p95 ours'), 'P95'),
    key(364, drawMark(4, y, 'limit'), 'limit'),
    key(424, drawValue(4, y + 4), 'the figure'),
    key(510, drawKept(4, y), 'the kept one'),
    `<text class="quiet" x="620" y="${y + 4}">+n: beyond the edge</text>`,
  ].join('');
}

const px = (value: number): string => String(Number(value.toFixed(1)));

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
