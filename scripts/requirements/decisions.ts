/** An intended difference between a seed and Liminal, with its record in docs/decisions and its requirements. */
export type Departure = {
  /** What the seed says, and what Liminal does instead. */
  readonly text: string;
  /** The name of the file in docs/decisions. */
  readonly record: string;
  readonly ids: readonly string[];
};

export const departures: readonly Departure[] = [
  {
    text: '001, 002 and 003 ask for Bun. Liminal runs on Node',
    record: '0010-node.md',
    ids: [],
  },
  {
    text: '001 asks for snake case, UUIDs, milliseconds, and ids in payloads. Liminal’s log has camel case and ids in the envelope, and a route returns the form of 001 on request',
    record: '0011-camel-case.md',
    ids: ['FR-001-01', 'FR-001-02', 'FR-001-17', 'FR-001-38'],
  },
  {
    text: '003 shows a tool’s output as a parsed item of its own. Liminal adds the output to its call, as text',
    record: '0012-tool-output.md',
    ids: ['TC-05', 'TC-06', 'TC-5.3a'],
  },
  {
    text: '002 ends a turn at `message_stop`, and as cancelled for `max_tokens` and unknown reasons. Liminal ends the turn at `result`, as completed, and reports the reason',
    record: '0013-end-of-a-turn.md',
    ids: ['TC-3.3f', 'FR-002-05'],
  },
  {
    text: '000 and 004 run Codex over ACP. Liminal runs Codex’ app-server, and can run the ACP adapter in the same way as any other ACP agent',
    record: '0014-codex.md',
    ids: ['AC-4.1', 'AC-4.2'],
  },
  {
    text: '000 shows a text only after the threshold, and 003 at once. In Liminal both can be configured, and live readers receive text at once',
    record: '0015-first-emission.md',
    ids: ['TC-5.2c', 'FR-003-03', 'NFR-000-04'],
  },
  {
    text: '`viewFilePath`, `providerOptions`, `agent_id`, `correlation_id`, the status `queued` and `getBufferState` are left out, or exist but are never set',
    record: '0016-unused-fields.md',
    ids: [],
  },
  {
    text: '001 stores items as objects in Convex. Liminal stores JSON in pieces, because a document can contain only 1 MiB',
    record: '0017-convex-columns.md',
    ids: ['FR-001-14'],
  },
  {
    text: '001 and 003 need Redis. A single server of Liminal stores its log in SQLite',
    record: '0001-sqlite.md',
    ids: [],
  },
  {
    text: '001 refers to a document about scripts that does not exist. Liminal defines the syntax itself',
    record: '0007-scripts.md',
    ids: ['FR-001-03', 'FR-001-32'],
  },
];
