import type { OpenedProcessor } from './destination.ts';

/** Sent one by one, and its exporter refuses more than 30 at a time. */
const AT_ONCE = 20;

/**
 * Through OpenLLMetry's span processor, as its SDK sets it up; the SDK's own `initialize` would instrument every model's
 * library in this process as well. It is large, and optional.
 */
export async function openOpenLlmetry({ apiKey }: { apiKey: string }): Promise<OpenedProcessor> {
  const { createSpanProcessor, ALL_INSTRUMENTATION_LIBRARIES } = await loadSdk();
  const processor = createSpanProcessor({
    apiKey,
    disableBatch: true,
    allowedInstrumentationLibraries: ALL_INSTRUMENTATION_LIBRARIES,
  });
  return { processor, atOnce: AT_ONCE };
}

async function loadSdk() {
  try {
    return await import('@traceloop/node-server-sdk');
  } catch (cause) {
    const isMissing =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw cause;
    const message =
      'TRACELOOP_… is set, and @traceloop/node-server-sdk is not installed: npm install --no-save @traceloop/node-server-sdk';
    throw new Error(message, { cause });
  }
}
