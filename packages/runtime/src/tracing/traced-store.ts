import { BoundedMap, type Response, runSpans } from '@liminal/protocol';
import type { ResponseStore } from '@liminal/storage';
import { OpenRuns } from './open-runs.ts';
import { overrideMethods } from './override-methods.ts';
import { Stage } from './stage.ts';
import type { Tracing } from './tracing.ts';

/** How many traced runs are remembered. */
const recordedMax = 1_000;

/**
 * Wraps a store: emits a run's spans when the store gets the run's end, and a span for the writes of the run. Only the
 * process that brings runs into history wraps its store, so a run is traced once. If a run is stored again after a
 * crash, its spans are the same.
 */
export function tracedStore(store: ResponseStore, tracing: Tracing | undefined): ResponseStore {
  if (!tracing) return store;
  const { captureContent } = tracing;
  const runs = new OpenRuns<Stage>((stage) => stage.end());
  const recorded = new BoundedMap<string, true>(recordedMax);
  const saveResponse: ResponseStore['saveResponse'] = async (response) => {
    const { id: runId, traceContext } = response;
    const isRecorded = recorded.has(runId);
    const make = () => Stage.of(tracing, { runId, traceContext }, 'database write');
    const stage = isRecorded ? undefined : runs.get(runId, make);
    if (!stage) return store.saveResponse(response);
    await stage.work(async () => store.saveResponse(response));
    if (!isOver(response)) return;
    runs.end(runId);
    if (recorded.has(runId)) return;
    recorded.set(runId, true);
    tracing.add(runSpans(response, { captureContent }));
  };
  const close: ResponseStore['close'] = async () => {
    runs.endAll();
    await store.close();
  };
  return overrideMethods(store, { saveResponse, close });
}

function isOver({ status }: Response): boolean {
  return status !== 'queued' && status !== 'in_progress';
}
