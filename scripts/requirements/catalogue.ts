/**
 * The text of a promise. `open` describes the work that will build what is promised. `figures` lists the groups of `npm
 * run bench` that measure what is promised.
 */
export type Requirement =
  | string
  | { readonly text: string; readonly open: string }
  | { readonly text: string; readonly figures: string };

/**
 * Makes a promise about time or memory. The figures of `npm run bench` measure these promises, because tests must not
 * depend on time.
 */
const measured =
  (figures: string) =>
  (text: string): Requirement => ({ text, figures });

/**
 * All promises, by id. A test that proves a promise has the promise's id in its own name. An acceptance criterion (AC)
 * is proved by the tests of its test cases (TC). Most ids are those of the seeds, the documents that asked for Liminal.
 * If a seed has no ids, the ids count the seed's sentences: `NFR-000-…`, `FR-001-…`, `FR-002-…`, `FR-003-…`, and
 * `AS-039-…` for the scenarios of seed 004. `npm run requirements` reports mistakes in the catalogue. TC-6.4a and
 * TC-6.4c are missing, because seed 000 withdrew them.
 */
export const catalogue: Readonly<Record<string, Requirement>> = {
  // Seed 000 asks for the event vocabulary.
  'AC-1.1': 'One schema represents every event of Claude Code and of Codex',
  'TC-1.1a': 'The event schema covers text streaming',
  'TC-1.1b': 'The event schema covers the life of a tool call',
  'TC-1.1c': 'The event schema covers reasoning',
  'TC-1.1d': 'The event schema covers the life of a turn',
  'TC-1.1e': 'The event schema covers errors of items and of responses',
  'TC-1.1f': 'The event schema rejects malformed events and reports the reason',
  'AC-1.2': 'Events contain ids that show which events belong together',
  'TC-1.2a': 'All events of a turn share its turnId',
  'TC-1.2b': 'All events of an item share its itemId',
  'TC-1.2c': 'A tool call and its result share one callId',
  'AC-1.3': 'Schemas contain everything that a later ingestion needs',
  'TC-1.3a': 'Schemas contain the ids and the two timestamps that a later ingestion needs',
  'TC-1.3b': 'Fields that are derived after ingestion are not in the schemas',

  // Seed 000 asks for the provider contract and its registry.
  'AC-2.1': 'Every provider implements one typed interface',
  'TC-2.1a': 'The provider interface has every lifecycle method',
  'TC-2.1b': 'The Claude Code provider satisfies the interface',
  'TC-2.1c': 'The Codex provider satisfies the interface',
  'AC-2.2': 'A registry maps CLI types to providers',
  'TC-2.2a': 'The registry finds a provider by its CLI type',
  'TC-2.2b': 'The registry refuses an unknown CLI type',

  // Seed 000 asks for Claude Code.
  'AC-3.1': 'Claude Code sessions are created and loaded through its SDK',
  'TC-3.1a': 'Creating a session starts a process that keeps running',
  'TC-3.1b': 'Loading a session restores its context',
  'TC-3.1c': 'If a session cannot start, the error gives the reason, and no process is left',
  'AC-3.2': 'Messages reach Claude Code through its streaming input',
  'TC-3.2a':
    'A message reaches the process, and the send resolves when the message is bound to its turn',
  'TC-3.2b': 'Messages in sequence reach the same process in order',
  'TC-3.2c': 'A send to a dead process fails with PROCESS_CRASH',
  'AC-3.3': 'Claude Code’s stream becomes upserts and turns',
  'TC-3.3a': 'Text blocks become message events',
  'TC-3.3b': 'Tool use blocks become function calls',
  'TC-3.3c': 'Tool results become function call outputs with the same callId',
  'TC-3.3d': 'Thinking blocks become reasoning',
  'TC-3.3e': 'Several blocks in one response are several items',
  'TC-3.3f': 'The beginning and the end of a message become the beginning and the end of the turn',
  'TC-3.3g': 'The result of an unknown tool call is emitted, not dropped',
  'AC-3.4': 'A Claude Code session can be cancelled, killed and queried',
  'TC-3.4a': 'Cancel interrupts the running turn',
  'TC-3.4b': 'Kill ends the process',
  'TC-3.4c': 'isAlive returns whether the process is alive',

  // Seed 000 asks for Codex, and for every agent that speaks ACP.
  'AC-4.1': 'Codex works behind the provider interface in the same way as before',
  'TC-4.1a': 'A Codex session is created',
  'TC-4.1b': 'A Codex session is loaded',
  'TC-4.1c': 'A message reaches Codex',
  'AC-4.2': 'ACP notifications become upserts and turns',
  'TC-4.2a': 'agent_message_chunk becomes message upserts',
  'TC-4.2b': 'tool_call becomes the upsert that creates a tool call',
  'TC-4.2c': 'tool_call_update becomes the upsert that completes the tool call',

  // Seed 000 asks for the upsert fold.
  'AC-5.1': 'Events become upserts with full content',
  'TC-5.1a': 'A text message is created and completed',
  'TC-5.1b': 'Each emission contains the full content',
  'TC-5.1c': 'A tool call is emitted only when it is invoked and when it is completed',
  'TC-5.1d': 'Reasoning becomes upserts of type thinking',
  'AC-5.2': 'A gradient controls how often text is emitted',
  'TC-5.2a': 'Early emissions are frequent',
  'TC-5.2b': 'Later emissions are less frequent',
  'TC-5.2c': 'Text is emitted when a threshold is exceeded, not when it is reached',
  'TC-5.2d': 'A delta that exceeds several thresholds causes only one emission',
  'TC-5.2e': 'The last entry of the gradient repeats',
  'TC-5.2f': 'The default gradient is 10, 20, 40, 80, 120',
  'AC-5.3': 'A tool call is correlated with its result',
  'TC-5.3a':
    'A result completes the invocation with the same callId, and the itemId stays the same',
  'TC-5.3b': 'Concurrent tool calls are not mixed up',
  'AC-5.4': 'The fold handles the edge cases',
  'TC-5.4a':
    'A fold that is destroyed in the middle of a stream emits an error with all buffered content',
  'TC-5.4b': 'The batch timeout emits the buffered content',
  'TC-5.4c': 'Empty content causes one complete emission',
  'TC-5.4d': 'A cancelled item is discarded without an emission',
  'TC-5.4e': 'A cancelled turn is reported by a turn event',
  'TC-5.4f': 'A failed turn is reported as turn_error, never as turn_complete',

  // Seed 000 asks for the session routes.
  'AC-6.1': 'Routes create, list and load sessions',
  'TC-6.1a': 'Creating a session returns the session’s handle',
  'TC-6.1b': 'Creating a session with an unknown CLI type is answered with 400',
  'TC-6.1c': 'Listing returns the active sessions of a project',
  'TC-6.1d': 'Listing without projectId is answered with 400 PROJECT_ID_REQUIRED',
  'TC-6.1e': 'A request to load a session reaches the provider',
  'TC-6.1f': 'Loading a session that does not exist is answered with 404',
  'AC-6.2': 'Routes send messages and cancel turns',
  'TC-6.2a': 'A message reaches the right provider, and the response contains the turnId',
  'TC-6.2b': 'Sending to a session that does not exist is answered with 404',
  'TC-6.2c': 'A cancellation reaches the right provider',
  'TC-6.2d': 'All output of the turn has the returned turnId',
  'AC-6.3': 'Routes end a provider’s process and return its status',
  'TC-6.3a': 'Kill ends the provider’s process and removes the session from the list',
  'TC-6.3b': 'Status returns the provider’s state',
  'AC-6.4': 'The earlier family of messages no longer exists',
  'TC-6.4b': 'There is one family of messages, and the earlier one is refused',

  // Seed 000 asks for the pipeline and the browser, tested end to end.
  'AC-7.1': 'Provider output reaches the WebSocket',
  'TC-7.1a': 'Claude Code’s text reaches the browser as upserts',
  'TC-7.1b': 'Codex’s text reaches the browser as upserts',
  'TC-7.1c': 'The tool calls of both agents reach the browser as create and complete',
  'AC-7.2': 'The browser renders only upserts',
  'TC-7.2a': 'Text is rendered progressively, each message at its own position',
  'TC-7.2b': 'The invocation of a tool call is rendered first, and later its result',
  'TC-7.2c': 'Interleaved items are rendered independently',
  'AC-7.3': 'Loading a session shows its history',
  'TC-7.3a': 'Loading an existing Claude Code session shows its history',
  'TC-7.3b': 'Loading an existing Codex session shows its history',
  'AC-7.4': 'The direct path from ACP to the browser no longer exists',
  'TC-7.4a': 'No code leads from an agent directly to a surface',
  'AC-8.1': 'Claude Code works from end to end',
  'TC-8.1a': 'A user can create a session, send a message, and see the answer while it is streamed',
  'TC-8.1b': 'Tool calls show their name, arguments and result',
  'TC-8.1c': 'Cancel stops the turn, and the session accepts the next message',
  'AC-8.2': 'Codex works from end to end',
  'TC-8.2a':
    'With Codex, a user can create a session, send a message, and see the answer while it is streamed',
  'TC-8.2b': 'Tool calls of Codex show their name, arguments and result',
  'AC-8.3': 'Users can switch tabs and load sessions',
  'TC-8.3a': 'Switching between two tabs keeps the state of both',
  'TC-8.3b': 'Opening an existing session loads its history',

  // Seed 000 has non-functional requirements.
  'NFR-000-01': measured('claudeCold claudeLoad')(
    'Claude Code starts and loads in one SDK session. The median and the P95 are compared with the bare program',
  ),
  'NFR-000-02': measured('codexLoad')(
    'On a running server, Codex loads a session within 10 % of the time of the bare program. The first load after the server’s own start takes more than twice as long',
  ),
  'NFR-000-03': measured('render')(
    'The latency from the provider to the browser is within 10 % of the direct path if each delta is sent at once: with the default settings on an idle server, and always with a cadence of 0. A busy server gathers deltas for up to 33 ms by default, and is then not within 10 %',
  ),
  'NFR-000-04': measured('firstText')(
    'The first text is visible within 200 ms after the response has started',
  ),
  'NFR-000-05': 'A crash of the provider’s process is detected and reported',
  'NFR-000-06': 'A kill leaves no orphaned processes',
  'NFR-000-07':
    'After an error, no buffered content is lost, and no unfinished item is marked as complete',
  'NFR-000-08': 'Translation can be tested without a real process',
  'NFR-000-09': 'The fold can be tested with fixtures',
  'NFR-000-10': 'The routes can be tested with injected requests, without a real provider',

  // Seed 001 asks for one stream of typed events on Redis. The ids follow its sections and appendix.
  'FR-001-01': 'A.1: a Response contains items of every type, each in the form of its schema',
  'FR-001-02':
    'A.1: every event contains its id, time, run and trace, and its type is the type of its payload',
  'FR-001-03': 'A.1: scripts and their results are items',
  'FR-001-04': 'A.2: the streams and the projectors’ group have the names that the seed gives',
  'FR-001-05': 'A.2: projectors share the runs through a consumer group',
  'FR-001-06': 'A.2: readers use no consumer group; each reads the whole stream, from any position',
  'FR-001-07': 'A.2: the stream contains about the newest 1,000 events of a run',
  'FR-001-08': 'A.2: consumers tolerate duplicates',
  'FR-001-09': 'A.2: the events of a response stay in order',
  'FR-001-10': 'A.3: the active trace context is injected into every event',
  'FR-001-11': 'A.3: the projector and SSE continue the trace that an event contains',
  'FR-001-12': 'A.3: one trace shows the whole way from the request to the database',
  'FR-001-13': 'A.3: OpenLLMetry with disableBatch and Langfuse are supported',
  'FR-001-14': 'A.4: Responses are stored in Convex',
  'FR-001-15': '4.3: one reducer builds the Response from events',
  'FR-001-16': '5.2: a worker copies runs from the stream into the database',
  'FR-001-17': '5.3: a route streams the events of a run as server-sent events',
  'FR-001-18': '5.3: a client library updates the Response of a run as the run’s events arrive',
  'FR-001-19': '4.3: history is equal to the result of the stream',
  'FR-001-20':
    '6: if a run’s server no longer exists, the run does not hang, and is marked as failed',
  'FR-001-21': '6: Redis’ memory stays bounded, however many runs begin and end',
  'FR-001-22': '5.4: tool calls are executed, and their outputs are added to the stream',
  'FR-001-23': '6: the execution of a tool call starts at once',
  'FR-001-24': '5.4: there is an adapter for Anthropic’s Messages API',
  'FR-001-25': '5.1: there is an adapter for OpenAI, as a standalone function',
  'FR-001-26':
    'A.5: the Responses API is used first, and Chat Completions only if the server lacks the Responses API',
  'FR-001-27': 'A.5: delta.content becomes item_delta of a message',
  'FR-001-28': 'A.5: delta.reasoning_content becomes item_delta of reasoning',
  'FR-001-29':
    'A.5: delta.tool_calls become the start and the deltas of calls; the id shows to which call a delta belongs',
  'FR-001-30': 'A.5: finish_reason tool_calls ends every call',
  'FR-001-31': 'A.5: finish_reason becomes response_done',
  'FR-001-32':
    'A.5: a script reports its start, its calls with their outputs, and its end or error',
  'FR-001-33': 'A.6: the verification checks the settings',
  'FR-001-34': 'A.6: the verification sends a prompt through an agent',
  'FR-001-35': 'A.6: the verification prints a valid trace id',
  'FR-001-36': 'A.6: the verification reads each kind of event by XREAD, with its trace',
  'FR-001-37': 'A.6: the verification deletes what it has created',
  'FR-001-38': 'A.6: every entry of a run’s stream is a complete event and contains its trace',

  // Seed 002 asks for Claude Code through its SDK. Its other requirements are the same as AC-3 and AC-5 of seed 000.
  'FR-002-01': 'An interrupt that fails is reported as INTERRUPT_FAILED',
  'FR-002-02':
    'If the output breaks off, the turn ends with PROCESS_CRASH, and the session is dead',
  'FR-002-03': 'Loading an open session returns the same session',
  'FR-002-04': 'An unknown session is reported as SESSION_NOT_FOUND',
  'FR-002-05': 'The stop reason of a turn is passed on to readers',

  // Seed 003 asks for the same upsert fold as seed 000, with another gradient and another token counter.
  'TC-01': 'A simple message of an agent becomes upserts',
  'TC-02': 'A message of an agent is emitted in batches',
  'TC-03': 'A user message is held until it is complete',
  'TC-04': 'A reasoning block before the answer becomes upserts of its own',
  'TC-05': 'A tool call and its output become upserts',
  'TC-06': 'Several tool calls in sequence become upserts',
  'TC-07': 'An item that fails in the middle of the stream is emitted as an error',
  'TC-08': 'A failed response is reported',
  'TC-09': 'The batch timeout emits buffered content if no further delta arrives',
  'TC-10': 'Emissions follow the steps of the gradient',
  'TC-11': 'An item without content is emitted',
  'TC-12': 'Destroying the fold emits the buffered content',
  'TC-13': 'A message that could not be published is retried and delivered',
  'TC-14': 'If a message can never be published, the publisher gives up and reports this',
  'FR-003-01': 'Published messages have the envelope that stream B requires',
  'FR-003-02':
    'Stream B has its own key, and every program that can read Redis can read the stream',
  'FR-003-03':
    'The gradient, the token counter, the first emission and the retry of stream B can be configured',
  'FR-003-04': 'Stream B reports withdrawn items',
  'FR-003-05': 'Buffered content is published before the server ends',

  // Seed 004 asks that an editor can drive any agent through ACP.
  'FR-039-01': 'Notifications are the protocol’s own types',
  'FR-039-02': 'Content blocks are the protocol’s own types',
  'FR-039-03': 'Tool call statuses are the protocol’s own',
  'FR-039-04': 'Tool calls and their updates contain all metadata',
  'FR-039-05': 'Repeated content is suppressed by documented rules',
  'FR-039-06': 'A notification or the idle limit ends a turn',
  'FR-039-07': 'Recorded JSONL scenarios give the same result at each replay',
  'FR-039-08': 'All streamed content comes from the agent; no content is simulated',
  'FR-039-09': 'There is an optional smoke test of an installed Codex CLI',
  'AS-039-1': 'An agent’s messages match the schema of SessionNotification',
  'AS-039-2': 'A tool call’s statuses advance in their order',
  'AS-039-3': 'Duplicate chunks are compared and filtered',
  'AS-039-4': 'A notify event completes the turn at once, with an official stop reason',
  'AS-039-5': 'Silence ends the session with an official stop reason',
  'AS-039-6': 'codex --version and codex exec --help run if the smoke test is requested',
  'NFR-039-01': measured('editor')('An update reaches the editor within 150 ms'),
  'NFR-039-02': measured('memory')('The memory of a session does not grow over time'),
  'NFR-039-03': 'Every line that is written to the editor is a message of the protocol',

  // Safety: each attack is refused, with its own status and code.
  'SAFE-1': 'A request without a token is refused',
  'SAFE-2': 'A wrong token is refused',
  'SAFE-3': 'A foreign Origin is refused',
  'SAFE-4': 'A foreign Host is refused',
  'SAFE-5': 'A folder outside the roots is refused',
  'SAFE-6': 'A broken body is refused',
  'SAFE-7': 'An oversized body is refused',

  // These are the invariants of docs/architecture.md.
  'INV-1': 'Each run has one writer, and seq has no gaps',
  'INV-2': 'Every run ends in exactly one terminal event',
  'INV-3': 'Every item that starts ends before its run ends',
  'INV-4':
    'An upsert is created, updated and ended, and its last content is equal to the content in the Response',
  'INV-5':
    'Folding a prefix and then the rest gives the same result as folding all events, and duplicate events change nothing',
  'INV-6': 'A reader sees an event only after the log contains the event',
  'INV-7':
    'From any cursor, a reader reaches the same final state or receives a snapshot; there is never a gap that the reader does not notice',
  'INV-8': 'No process outlives its session or the server that started it',
  'INV-9':
    'The memory for each subscriber is bounded, and a slow subscriber does not slow other subscribers',
};
