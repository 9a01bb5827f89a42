/**
 * Generates requests for the operations of the protocol's table. Some requests are sent at the same time. The contents
 * are valid or invalid.
 */
import { operations, serverOperations, refusalsOfAny, type RefusalCode } from '@liminal/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import { fewHarms, type Harm, linesOf } from '../hostile/stream.ts';
import { oddNames } from '../hostile/value.ts';
import { type JsonSchema, SchemaValues } from './from-schema.ts';
import { known, marks } from './known.ts';
import { expectNamed, type FuzzStage } from './stage.ts';

interface Operation {
  method: string;
  path: string;
  query?: z.ZodType;
  body?: z.ZodType;
  answer?: z.ZodType;
  streams?: boolean;
  bytes?: 'request' | 'answer';
  refusals: readonly RefusalCode[];
}

const all: Record<string, Operation> = { ...operations, ...serverOperations };
// Files are fuzzed in a separate test.
const names = Object.keys(all).filter((name) => all[name]?.bytes !== 'request');

/** Operations that are drawn more often than others. */
const frequent = ['send', 'steer', 'cancel', 'answerApproval', 'setConfig', 'fork', 'archive'];

interface Step {
  operation: string;
  /** The parameters of the path, in order. */
  ids: string[];
  content: object;
  harms: Harm[];
  /** Whether the next step begins without waiting for this step's answer. */
  together: boolean;
}

const values = new SchemaValues({ known });

/** Returns a value for a parameter of the path, chosen by the parameter's name. */
function pathText(name: string, path: string): fc.Arbitrary<string> {
  const usual: Record<string, fc.Arbitrary<string>> = {
    id: path.startsWith('/api/run/') ? marks.turn : marks.session,
    turnId: marks.turn,
    approvalId: marks.approval,
    hash: marks.blob,
    cliType: known['cliType'] ?? fc.string(),
  };
  const odd = fc.constantFrom(...oddNames.filter((one) => one.trim() !== ''), 'x'.repeat(5_000));
  const strange = fc.oneof(odd, fc.string({ minLength: 1 }));
  return fc.oneof(
    { weight: 12, arbitrary: usual[name] ?? fc.uuid() },
    { weight: 1, arbitrary: strange },
  );
}

function stepOf(name: string): fc.Arbitrary<Step> {
  const { path, query, body } = all[name] ?? { path: '' };
  const schema = body ?? query;
  const json = schema && (z.toJSONSchema(schema, { io: 'input' }) as JsonSchema);
  const content = json ? values.of(json).filter((one) => typeof one === 'object') : fc.constant({});
  return fc.record(
    {
      operation: fc.constant(name),
      ids: fc.tuple(...[...path.matchAll(/:(\w+)/g)].map(([, one]) => pathText(String(one), path))),
      content: content as fc.Arbitrary<object>,
      harms: fewHarms,
      together: fc.boolean(),
    },
    { noNullPrototype: true },
  );
}

export const operationSteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.oneof(...frequent.map(stepOf)) },
    { weight: 1, arbitrary: fc.oneof(...names.map(stepOf)) },
  ),
  { minLength: 1, maxLength: 12 },
);

export async function playOperations(steps: readonly Step[], stage: FuzzStage): Promise<void> {
  const open: Promise<void>[] = [];
  for (const step of steps) {
    const done = playStep(step, stage);
    open.push(done);
    if (!step.together) await done;
  }
  await Promise.all(open);
}

async function playStep(step: Step, stage: FuzzStage): Promise<void> {
  const { operation: name, ids } = step;
  const operation = all[name];
  if (operation === undefined) throw new Error(`Unknown operation: ${name}.`);
  let next = 0;
  const marked = operation.path.replaceAll(/:\w+/g, () => String(ids[next++]));
  const path = marked
    .split('/')
    .map((part) => fillText(stage, part, (text) => text).then(percentEncode));
  const url = (await Promise.all(path)).join('/');
  const content = await contentOf(step, operation, stage);
  stage.note(`${operation.method} ${url}${content.query} ${content.body ?? ''}`);
  const answer = await stage.ask({
    method: operation.method,
    path: url + content.query,
    ...(content.body !== undefined && {
      body: content.body,
      headers: { 'content-type': 'application/json' },
    }),
    streams: operation.streams ?? false,
  });
  if (answer.status < 300) return noteAnswer(answer.text, operation, stage);
  const code = expectNamed(answer.status, answer.text);
  const named = [...operation.refusals, ...refusalsOfAny, 'NOT_FOUND'];
  expect(named, `${operation.method} ${operation.path}: ${answer.text}`).toContain(code);
}

async function contentOf({ content, harms }: Step, { body, query }: Operation, stage: FuzzStage) {
  const scripts = [[content]];
  const [line = ''] = linesOf({ script: 0, length: 1, harms }, scripts);
  if (body) {
    return { body: await stage.fill(line, (text) => JSON.stringify(text).slice(1, -1)), query: '' };
  }
  if (!query) return { body: undefined, query: '' };
  // A query contains only texts. A mutated value is sent as its JSON.
  const fields = parseObject(line).map(async ([name, value]) => {
    const text = await fillText(stage, textOf(value));
    return `${percentEncode(name)}=${percentEncode(text.slice(0, 6_000))}`;
  });
  return { body: undefined, query: `?${(await Promise.all(fields)).join('&')}` };
}

const fillText = (stage: FuzzStage, text: string, escape = (one: string) => one) =>
  stage.fill(text, escape);

function parseObject(line: string): [string, unknown][] {
  const value: unknown = line === '' ? {} : JSON.parse(line);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    // The value is nested too deeply for JSON.
    return '[';
  }
}

function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Checks an answer by its schema. Stores the turn's id for later steps. */
function noteAnswer(text: string, { answer, streams, bytes }: Operation, stage: FuzzStage): void {
  if (streams || bytes) return;
  const given: unknown = JSON.parse(text);
  const problem = answer?.safeParse(given).error;
  expect(problem && z.prettifyError(problem), text.slice(0, 1_000)).toBeUndefined();
  const turn = z.object({ turnId: z.string() }).safeParse(given).data;
  if (turn) stage.addTurn(turn.turnId);
}
