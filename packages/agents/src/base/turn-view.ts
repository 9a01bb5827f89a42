import type { EventDraft, TurnEvent, UpsertObject } from '@liminal/protocol';

/** The upsert fold of one turn, for those who listened when it began. */
export class TurnView {
  constructor(
    _sessionId: string,
    _upserts: (upsert: UpsertObject) => void,
    _turns: (event: TurnEvent) => void,
  ) {}

  push(_draft: EventDraft): 'running' | 'ended' {
    return 'running';
  }

  stop(): undefined {
    return undefined;
  }
}
