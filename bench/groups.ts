import { diagram } from './figures/diagram.ts';
import { opening } from './figures/opening.ts';
import { functions } from './figures/functions.ts';
import { hostile } from './figures/hostile.ts';
import { longSession } from './figures/long-session.ts';
import { models } from './figures/models.ts';
import { memory } from './figures/memory.ts';
import { page } from './figures/page.ts';
import { acpFlatOut, acpLatency, bytesPerToken, flatOut, latency } from './figures/pipeline.ts';
import { codex, codexLoad } from './figures/codex.ts';
import { editor } from './figures/editor.ts';
import { claudeCold, claudeLoad, claudeWarm } from './figures/claude.ts';
import { readers } from './figures/readers.ts';
import { firstText, render } from './figures/render.ts';
import { pacedCpu } from './figures/paced-cpu.ts';
import { redis } from './figures/redis.ts';
import { sandboxAgent } from './figures/sandbox-agent.ts';
import { stored } from './figures/stored.ts';
import { tracing } from './figures/tracing.ts';
import type { Figure } from './parts/figure.ts';

/** All figures, in groups that can be measured separately. The order is the order of measurement. */
export const groups: Record<string, () => AsyncGenerator<Figure>> = {
  flatOut,
  latency,
  pacedCpu,
  functions,
  acpFlatOut,
  acpLatency,
  sandboxAgent,
  editor,
  models,
  bytesPerToken,
  claudeWarm,
  claudeCold,
  claudeLoad,
  codex,
  codexLoad,
  opening,
  memory,
  longSession,
  render,
  firstText,
  page,
  diagram,
  redis,
  readers,
  stored,
  tracing,
  hostile,
};
