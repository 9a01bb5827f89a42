import type { Span } from '@liminal/protocol';

/** Receives spans. Without a `Tracing` object, nothing is traced or measured. */
export interface Tracing {
  /** Whether spans include prompts, answers, and the inputs and outputs of tools. */
  readonly captureContent: boolean;
  /**
   * Returns whether a trace that begins on this server is sampled. If a trace began elsewhere, the sender of the trace
   * has decided this.
   */
  samples(traceId: string): boolean;
  /** Adds finished spans. Neither blocks nor throws: a slow or broken collector must not delay or end a turn. */
  add(spans: readonly Span[]): void;
}
