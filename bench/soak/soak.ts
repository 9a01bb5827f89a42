import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  claudeEnvironment,
  makeWorkspace,
  type MessagesRequest,
  reply,
  startMessagesApi,
  text,
  toolUse,
  type Workspace,
} from '@liminal/testkit';
import { startLiminalServer } from '../parts/liminal-server.ts';
import type { Measured } from '../parts/process.ts';
import { Gate } from './gate.ts';
import { type Counts, Load } from './load.ts';
import { Pace } from './pace.ts';
import type { Sample } from './slope.ts';

const agentScript = fileURLToPath(new URL('agent.ts', import.meta.url));
const usedPrinter = new URL('../parts/print-used.ts', import.meta.url).href;

const sampleMs = 10_000;
const turnMs = 100;
const visitMs = 50;
const claudeTurnMs = 2_000;
const file = 'loader.ts';

export interface Soaked {
  counts: Counts;
  samples: Sample[];
}

interface SoakOptions {
  minutes: number;
  onSample: (sample: Sample, counts: Counts) => void;
  onError: (error: unknown) => void;
}

/**
 * Runs a server as users do, under a mixed load for the given number of minutes, and measures its memory throughout.
 */
export async function soak(options: SoakOptions): Promise<Soaked> {
  const workspace = await makeWorkspace({ [file]: 'export const load = () => 1;\n' });
  const api = await startMessagesApi({ script: answerClaude });
  try {
    const dataDir = await makeDataDir(workspace);
    const env = claudeEnvironment(workspace.home, api.url);
    const nodeArgs = ['--expose-gc', '--import', usedPrinter];
    const server = await startLiminalServer(dataDir, env, nodeArgs);
    try {
      const { projectDir } = workspace;
      const lastsMs = options.minutes * 60_000;
      const gate = new Gate();
      const pace = (everyMs: number) => new Pace({ gate, everyMs, lastsMs });
      const load = new Load({
        project: { connection: server.connection, projectDir },
        turnPace: pace(turnMs),
        visitPace: pace(visitMs),
        claudePace: pace(claudeTurnMs),
        onError: options.onError,
      });
      const measured = { load, gate, server: server.process };
      const samples = await sampleDuring(measured, options);
      return { counts: load.counts, samples };
    } finally {
      await server.process.end();
    }
  } finally {
    await api.close();
    await workspace.remove();
  }
}

async function makeDataDir({ home, projectDir }: Workspace): Promise<string> {
  const dataDir = join(home, 'data');
  await mkdir(dataDir);
  const agents = { soak: { command: process.execPath, args: [agentScript] } };
  const config = { roots: [projectDir], agents, logLevel: 'error' };
  await writeFile(join(dataDir, 'liminal.json'), JSON.stringify(config));
  return dataDir;
}

/** Answers as Claude Code's model: first with a tool call, and after the tool's result with text. */
function answerClaude(request: MessagesRequest) {
  const { toolResults, body } = request;
  // The recorded requests stay in memory, so remove their long parts.
  Object.assign(body, { messages: [], tools: [], system: [] });
  if (Object.keys(toolResults).length > 0) return reply('It reads well.');
  return reply([text('Let me look.'), toolUse('Read', { file_path: file })]);
}

async function sampleDuring(
  { load, gate, server }: { load: Load; gate: Gate; server: Measured },
  { onSample }: SoakOptions,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const begun = performance.now();
  const take = async (): Promise<void> => {
    // Measure between turns, because the memory of a running turn is not a leak.
    const usedMiB = await gate.whenEmpty(async () => server.usedMiB());
    const minutes = (performance.now() - begun) / 60_000;
    const sample = { minutes, usedMiB, residentMiB: server.residentMiB };
    samples.push(sample);
    onSample(sample, load.counts);
  };
  await take();
  const over = new AbortController();
  const run = load.run().finally(() => over.abort());
  try {
    for await (const _ of setInterval(sampleMs, undefined, { signal: over.signal })) await take();
  } catch (error) {
    if (!over.signal.aborted) throw error;
  }
  await run;
  await take();
  return samples;
}
