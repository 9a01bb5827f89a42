/** From a script to the events of a turn: pure, without a clock. */
import type {
  ApprovalOption,
  ApprovalOutcome,
  ErrorObject,
  EventPayload,
  OutputItem,
  PlanEntry,
} from '@liminal/protocol';
import type { Scene, Step, UseTool } from './script.ts';

export type Approval = Extract<OutputItem, { type: 'approval' }>;

/** One event, and how long after the one before (ms at normal pace). */
export interface Beat {
  after: number;
  /** Absent for a mere pause. */
  payload?: EventPayload;
  /** The turn waits here until a person has answered; `next` takes the outcome. */
  question?: Approval;
}

export type Ending = { status: 'completed' } | { status: 'error'; error: ErrorObject };
type Outcome = ApprovalOutcome | undefined;
/** Ends with undefined where the turn goes on. */
type Part = Generator<Beat, Ending | undefined, Outcome>;

interface Stage {
  /** A new id, unique in the session. */
  id: () => string;
  /** The call of the subagent that is at work. */
  parentCallId?: string;
  plan?: { itemId: string; entries: PlanEntry[] };
}

const silence = 300;
const wordMs = { say: 32, think: 20 };

const options = (allow: string, reject: string): ApprovalOption[] => [
  { optionId: 'allow', name: allow, kind: 'allow_once' },
  { optionId: 'reject', name: reject, kind: 'reject_once', takesNote: true },
];

/** Plays a scene. Items that are open when it ends are the player's to close. */
export function* perform(scene: Scene, turnId: string): Generator<Beat, Ending, Outcome> {
  let count = 0;
  const ending = yield* playAll(scene.steps, { id: () => `${turnId}-${++count}` });
  return ending ?? { status: 'completed' };
}

function* playAll(steps: readonly Step[], stage: Stage): Part {
  for (const step of steps) {
    const ending = yield* play(step, stage);
    if (ending) return ending;
  }
  return undefined;
}

function play(step: Step, stage: Stage): Part {
  switch (step.do) {
    case 'say':
    case 'think':
      return speak(step, stage);
    case 'tool':
      return useTool(step, stage);
    case 'ask':
      return ask(step, stage);
    case 'plan':
      return plan(step, stage);
    case 'progress':
      return progress(step, stage);
    case 'fail':
      return fail(step);
  }
}

function* speak(step: Extract<Step, { do: 'say' | 'think' }>, stage: Stage): Part {
  const itemId = stage.id();
  const { text } = step;
  const itemType = step.do === 'say' ? 'message' : 'reasoning';
  yield begin(step, stage, { itemId, itemType });
  for (const word of text.match(/\s*\S+\s*/g) ?? []) {
    const payload = { type: 'item_delta', itemId, deltaContent: word } as const;
    yield { after: wordMs[step.do], payload };
  }
  if (step.do === 'say' && step.cut) return undefined;
  const words = { ...own(stage, itemId), content: text, origin: 'agent' as const };
  const finalItem: OutputItem = { ...words, type: itemType };
  yield { after: 0, payload: { type: 'item_done', itemId, finalItem } };
  return undefined;
}

function* useTool(step: UseTool, stage: Stage): Part {
  const [itemId, callId] = [stage.id(), stage.id()];
  const { name, title, kind, locations, diffs } = step;
  const face = { name, title, kind, ...(locations && { locations }) };
  const args = JSON.stringify(step.input);
  yield begin(step, stage, { itemId, itemType: 'function_call', callId, ...face });
  yield { after: 150, payload: { type: 'item_delta', itemId, deltaContent: args } };
  const finalItem: OutputItem = {
    ...own(stage, itemId),
    ...face,
    ...(diffs && { diffs }),
    type: 'function_call',
    arguments: args,
    callId,
    origin: 'agent',
  };
  yield { after: 50, payload: { type: 'item_done', itemId, finalItem } };
  if (step.permission) {
    const { title: request, refused } = step.permission;
    const question = { title: request, callId, options: options('Allow', 'Reject') };
    if (!(yield* isAllowed({}, question, stage))) {
      const answer = { output: 'You did not allow this.', failed: true, takes: 0 };
      yield* answerCall(answer, callId, stage);
      return (yield* playAll(refused, stage)) ?? { status: 'completed' };
    }
  }
  const ending = yield* playAll(step.steps ?? [], { ...stage, parentCallId: callId });
  if (ending) return ending;
  yield* answerCall(step, callId, stage);
  return undefined;
}

function* ask(step: Extract<Step, { do: 'ask' }>, stage: Stage): Part {
  const question = { title: step.title, form: step.form, options: options('Send', 'Decline') };
  if (yield* isAllowed(step, question, stage)) return undefined;
  return (yield* playAll(step.refused, stage)) ?? { status: 'completed' };
}

function* isAllowed(
  timed: { after?: number },
  asked: Pick<Approval, 'title' | 'options'> & Partial<Pick<Approval, 'callId' | 'form'>>,
  stage: Stage,
): Generator<Beat, boolean, Outcome> {
  const itemId = stage.id();
  const shown = { approvalId: itemId, ...asked };
  const question: Approval = { ...own(stage, itemId), ...shown, type: 'approval' };
  const outcome = yield {
    ...begin(timed, stage, { itemId, itemType: 'approval', ...shown }),
    question,
  };
  if (!outcome) throw new Error('A question goes on only with its outcome.');
  yield { after: 0, payload: { type: 'item_done', itemId, finalItem: { ...question, outcome } } };
  return outcome.outcome === 'selected' && outcome.optionId === 'allow';
}

function* answerCall(
  step: Pick<UseTool, 'takes' | 'output' | 'failed' | 'exitCode'> & { kind?: UseTool['kind'] },
  callId: string,
  stage: Stage,
): Generator<Beat, void, Outcome> {
  const itemId = stage.id();
  const { takes, output, failed = false, exitCode } = step;
  const lines = step.kind === 'execute' ? (output.match(/[^\r\n]*[\r\n]|[^\r\n]+$/g) ?? []) : [];
  const pause = takes / (lines.length + 1);
  yield begin({ after: pause }, stage, { itemId, itemType: 'function_call_output', callId });
  for (const line of lines) {
    yield { after: pause, payload: { type: 'item_delta', itemId, deltaContent: line } };
  }
  const finalItem: OutputItem = {
    ...own(stage, itemId),
    type: 'function_call_output',
    callId,
    output,
    success: !failed,
    origin: 'tool_harness',
    ...(exitCode !== undefined && { exitCode }),
  };
  yield { after: 0, payload: { type: 'item_done', itemId, finalItem } };
}

function* plan(step: Extract<Step, { do: 'plan' }>, stage: Stage): Part {
  const itemId = stage.id();
  const entries = step.entries.map((entry) => ({ ...entry, status: 'pending' as const }));
  stage.plan = { itemId, entries };
  yield begin(step, stage, { itemId, itemType: 'plan', entries });
  return undefined;
}

function* progress(step: Extract<Step, { do: 'progress' }>, stage: Stage): Part {
  if (!stage.plan) throw new Error('A script makes a plan before it makes progress.');
  const { itemId } = stage.plan;
  const entries = stage.plan.entries.map((entry, index): PlanEntry => ({
    ...entry,
    status: statusAt(index, step.completed),
  }));
  const payload = { type: 'item_delta', itemId, deltaContent: '', patch: { entries } } as const;
  yield { after: step.after ?? silence, payload };
  return undefined;
}

function statusAt(index: number, completed: number): PlanEntry['status'] {
  if (index < completed) return 'completed';
  return index === completed ? 'in_progress' : 'pending';
}

function* fail({ after = silence, code, message }: Extract<Step, { do: 'fail' }>): Part {
  yield { after };
  return { status: 'error', error: { code, message } };
}

type Start = Omit<Extract<EventPayload, { type: 'item_start' }>, 'type'>;

function begin({ after = silence }: { after?: number }, stage: Stage, start: Start): Beat {
  const { parentCallId } = stage;
  return {
    after,
    payload: { type: 'item_start', ...start, ...(parentCallId && { parentCallId }) },
  };
}

function own({ parentCallId }: Stage, id: string): { id: string; parentCallId?: string } {
  return { id, ...(parentCallId && { parentCallId }) };
}
