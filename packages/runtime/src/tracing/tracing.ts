import type { Span } from '@liminal/protocol';

/** Where spans go. Where there is none nothing is traced, and nothing is measured for it. */
export interface Tracing {
  /** Whether spans tell prompts, answers, and what tools are given and give. */
  readonly captureContent: boolean;
  /** Whether a trace that begins here is told; of one that comes from elsewhere its caller has decided. */
  samples(traceId: string): boolean;
  /** Takes spans that have ended. Neither waits nor throws: what takes them must not hold up or end a turn. */
  add(spans: readonly Span[]): void;
}
