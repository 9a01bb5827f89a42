import { isTerminal, WithdrawnSpans } from '@liminal/protocol';
import type { EventLog } from '@liminal/storage';
import { OpenRuns } from './open-runs.ts';
import { overrideMethods } from './override-methods.ts';
import { Stage } from './stage.ts';
import type { Tracing } from './tracing.ts';

/**
 * Wraps a log: emits one `log append` span for each run, and a span for each retried model call. Retried calls are
 * visible only in events, not in history.
 */
export function tracedLog(log: EventLog, tracing: Tracing | undefined): EventLog {
  if (!tracing) return log;
  const runs = new OpenRuns<{ stage: Stage; withdrawn: WithdrawnSpans }>(({ stage }) =>
    stage.end(),
  );
  const append: EventLog['append'] = async (runId, events) => {
    const [first] = events;
    const run =
      first &&
      runs.get(runId, () => {
        const stage = Stage.of(tracing, first, 'log append');
        return stage && { stage, withdrawn: new WithdrawnSpans() };
      });
    if (!run) return log.append(runId, events);
    const { stage, withdrawn } = run;
    await stage.work(async () => log.append(runId, events));
    stage.count('events', events.length);
    tracing.add(events.flatMap((event) => withdrawn.take(event) ?? []));
    if (events.some(({ payload }) => isTerminal(payload))) runs.end(runId);
  };
  const close: EventLog['close'] = async () => {
    runs.endAll();
    await log.close();
  };
  return overrideMethods(log, { append, close });
}
