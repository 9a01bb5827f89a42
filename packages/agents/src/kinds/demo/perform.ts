/** Converts a script to the events of a turn. Pure, without a clock. */
import type {
  ApprovalOption,
  ApprovalOutcome,
  ErrorObject,
  OutputItem,
  PlanEntry,
} from '@liminal/protocol';
import type { TurnWriter } from '../../base/turn-writer.ts';
import type { Scene, Step, UseTool } from './script.ts';

export type Approval = Extract<OutputItem, { type: 'approval' }>;

/** One step of a turn. */
export interface Beat {
  /** The delay after the previous step, in ms at normal pace. */
  after: number;
  /** Writes the step's events; absent if the step is only a pause. */
  write?: (turn: TurnWriter) => void;
  /** The number of characters that the agent writes in the step. */
  spoken?: number;
  /** If present, the turn waits for an answer; the caller passes the outcome to `next`. */
  question?: Approval;
}

export type SceneEnd = { status: 'completed' } | { status: 'error'; error: ErrorObject };
type Outcome = ApprovalOutcome | undefined;
/** Returns the scene's end, or undefined if the turn continues. */
type Playback = Generator<Beat, SceneEnd | undefined, Outcome>;

interface Stage {
  /** Returns a new id, unique in the session. */
  id: () => string;
  /** The call of the running subagent. */
  parentCallId?: string;
  plan?: { itemId: string; entries: PlanEntry[] };
}

const silence = 300;
const wordMs = { say: 32, think: 20 };

const options = (allow: string, reject: string): ApprovalOption[] => [
  { optionId: 'allow', name: allow, kind: 'allow_once' },
  { optionId: 'reject', name: reject, kind: 'reject_once', takesNote: true },
];

/** Plays a scene. Items that are still open at the end must be closed by the caller. */
export function* perform(scene: Scene, turnId: string): Generator<Beat, SceneEnd, Outcome> {
  let count = 0;
  const ending = yield* playAll(scene.steps, { id: () => `${turnId}-${++count}` });
  return ending ?? { status: 'completed' };
}

function* playAll(steps: readonly Step[], stage: Stage): Playback {
  for (const step of steps) {
    const ending = yield* play(step, stage);
    if (ending) return ending;
  }
  return undefined;
}

function play(step: Step, stage: Stage): Playback {
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

function* speak(step: Extract<Step, { do: 'say' | 'think' }>, stage: Stage): Playback {
  const type = step.do === 'say' ? 'message' : 'reasoning';
  const item: OutputItem = { ...own(stage), type, content: '', origin: 'agent' };
  yield begin(step, item);
  for (const word of step.text.match(/\s*\S+\s*/g) ?? []) {
    yield { after: wordMs[step.do], ...append(item.id, word), spoken: word.length };
  }
  if (step.do === 'say' && step.cut) return undefined;
  yield done(item.id);
  return undefined;
}

function* useTool(step: UseTool, stage: Stage): Playback {
  const callId = stage.id();
  const { name, title, kind, locations, diffs } = step;
  const args = JSON.stringify(step.input);
  const call: OutputItem = {
    ...own(stage),
    type: 'function_call',
    name,
    title,
    kind,
    ...(locations && { locations }),
    arguments: '',
    callId,
    origin: 'agent',
  };
  yield begin(step, call);
  yield { after: 150, ...append(call.id, args), spoken: args.length };
  yield done({ ...call, arguments: args, ...(diffs && { diffs }) }, 50);
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

function* ask(step: Extract<Step, { do: 'ask' }>, stage: Stage): Playback {
  const question = { title: step.title, form: step.form, options: options('Send', 'Decline') };
  if (yield* isAllowed(step, question, stage)) return undefined;
  return (yield* playAll(step.refused, stage)) ?? { status: 'completed' };
}

function* isAllowed(
  timed: { after?: number },
  asked: Pick<Approval, 'title' | 'options'> & Partial<Pick<Approval, 'callId' | 'form'>>,
  stage: Stage,
): Generator<Beat, boolean, Outcome> {
  const item = own(stage);
  const question: Approval = { ...item, approvalId: item.id, ...asked, type: 'approval' };
  const outcome = yield { ...begin(timed, question), question };
  if (!outcome) throw new Error('A question has no outcome.');
  yield done({ ...question, outcome });
  return outcome.outcome === 'selected' && outcome.optionId === 'allow';
}

function* answerCall(
  step: Pick<UseTool, 'takes' | 'output' | 'failed' | 'exitCode'> & { kind?: UseTool['kind'] },
  callId: string,
  stage: Stage,
): Generator<Beat, void, Outcome> {
  const { takes, output, failed = false, exitCode } = step;
  const item = { ...own(stage), type: 'function_call_output', callId } as const;
  const lines = step.kind === 'execute' ? (output.match(/[^\r\n]*[\r\n]|[^\r\n]+$/g) ?? []) : [];
  const pause = takes / (lines.length + 1);
  const result = { ...item, success: !failed, origin: 'tool_harness' } as const;
  yield begin({ after: pause }, { ...result, output: '' });
  for (const line of lines) yield { after: pause, ...append(item.id, line) };
  yield done({ ...result, output, ...(exitCode !== undefined && { exitCode }) });
}

function* plan(step: Extract<Step, { do: 'plan' }>, stage: Stage): Playback {
  const { id, ...of } = own(stage);
  const entries = step.entries.map((entry) => ({ ...entry, status: 'pending' as const }));
  stage.plan = { itemId: id, entries };
  yield begin(step, { id, ...of, type: 'plan', entries });
  return undefined;
}

function* progress(step: Extract<Step, { do: 'progress' }>, stage: Stage): Playback {
  if (!stage.plan) throw new Error('A script needs a plan before it can report progress.');
  const { itemId } = stage.plan;
  const entries = stage.plan.entries.map((entry, index): PlanEntry => ({
    ...entry,
    status: statusAt(index, step.completed),
  }));
  yield { after: step.after ?? silence, write: (turn) => turn.patch(itemId, { entries }) };
  return undefined;
}

function statusAt(index: number, completed: number): PlanEntry['status'] {
  if (index < completed) return 'completed';
  return index === completed ? 'in_progress' : 'pending';
}

function* fail({ after = silence, code, message }: Extract<Step, { do: 'fail' }>): Playback {
  yield { after };
  return { status: 'error', error: { code, message } };
}

const begin = ({ after = silence }: { after?: number }, item: OutputItem): Beat => ({
  after,
  write: (turn) => turn.start(item),
});

const append = (itemId: string, text: string): Pick<Beat, 'write'> => ({
  write: (turn) => turn.append(itemId, text),
});

/** Ends an item. Given an id, ends the item unchanged; given an item, replaces it. */
function done(item: string | OutputItem, after = 0): Beat {
  const write = (turn: TurnWriter): void =>
    typeof item === 'string' ? turn.done(item) : turn.done(item.id, item);
  return { after, write };
}

function own({ id, parentCallId }: Stage): { id: string; parentCallId?: string } {
  return { id: id(), ...(parentCallId && { parentCallId }) };
}
