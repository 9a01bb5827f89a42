import type { OpenedProcessor } from './destination.ts';

/** Sent one by one, and its exporter refuses more than 30 at a time. */
const AT_ONCE = 20;

/**
 * Through OpenLLMetry's span processor, as its SDK sets it up; the SDK's own `initialize` would instrument every model's
 * library in this process as well. It is large, and loaded only here.
 */
export async function openOpenLlmetry({ apiKey }: { apiKey: string }): Promise<OpenedProcessor> {
  const { createSpanProcessor, ALL_INSTRUMENTATION_LIBRARIES } =
    await import('@traceloop/node-server-sdk');
  const processor = createSpanProcessor({
    apiKey,
    disableBatch: true,
    allowedInstrumentationLibraries: ALL_INSTRUMENTATION_LIBRARIES,
  });
  return { processor, atOnce: AT_ONCE };
}
