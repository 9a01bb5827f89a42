import { LangfuseSpanProcessor } from '@langfuse/otel';
import type { Span } from '@liminal/protocol';
import type { OpenedProcessor } from './destination.ts';
import { BATCHED_AT_ONCE } from './otlp.ts';

interface Access {
  publicKey: string;
  secretKey: string;
  baseUrl: string;
}

export function openLangfuse(access: Access): OpenedProcessor {
  const processor = new LangfuseSpanProcessor({
    ...access,
    // Without this only what it takes for a model's would be there, with holes in the waterfall.
    shouldExportSpan: () => true,
    // Spans name images, and have none.
    mediaUploadEnabled: false,
  });
  return { processor, atOnce: BATCHED_AT_ONCE, besides: sessionOf };
}

/** By this it groups traces. */
function sessionOf({ attributes }: Span): Span['attributes'] {
  const id = attributes['gen_ai.conversation.id'];
  return id === undefined ? {} : { 'session.id': id };
}
