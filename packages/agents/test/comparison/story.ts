/** One scenario of ten situations, which is run in an agent's own terminal and in Liminal. */

/**
 * A person who uses the agent, either in its own terminal or in Liminal. Each method resolves when the action is
 * complete.
 */
export interface ScenarioUser {
  begin(): Promise<void>;
  /** Sends a message whose turn ends with `answer`. */
  send(text: string, answer: string): Promise<void>;
  showImage(text: string, answer: string): Promise<void>;
  /** Starts a background task. `release` ends the task after the turn; the end of the task starts another turn. */
  background(text: string, answer: string, release: Release, then: string): Promise<void>;
  /** Requests a plan, and approves the plan. */
  plan(text: string, answer: string): Promise<void>;
  /** Compacts the conversation. */
  compact(): Promise<void>;
  /** Ends the program, and opens the conversation again. */
  resume(): Promise<void>;
  /** Continues in a fork of the conversation. */
  fork(): Promise<void>;
  close(): Promise<void>;
}

/** A background task that ends on request. */
export type Release = 'agent' | 'command';

type Situation = readonly [name: string, live: (person: ScenarioUser) => Promise<void>];

export const story: readonly Situation[] = [
  ['first turn', (person) => person.send('Say hello.', 'Hello one.')],
  ['second turn', (person) => person.send('Say it again.', 'Hello two.')],
  ['image', (person) => person.showImage('What is this?', 'A pixel.')],
  ['MCP', (person) => person.send('Greet Ada.', 'Greeted.')],
  ['plan mode', (person) => person.plan('Plan it.', 'Planned.')],
  ['subagent', (person) => person.background('Delegate it.', 'Delegated.', 'agent', 'It is back.')],
  [
    'background task',
    (person) => person.background('Wait for it.', 'Waiting.', 'command', 'It has ended.'),
  ],
  [
    'compaction',
    async (person) => {
      await person.compact();
      await person.send('And now?', 'Now this.');
    },
  ],
  [
    'resume',
    async (person) => {
      await person.resume();
      await person.send('Where were we?', 'Here we were.');
    },
  ],
  [
    'fork',
    async (person) => {
      await person.fork();
      await person.send('Another way?', 'This way.');
    },
  ],
];

/**
 * Runs the scenario. Returns the requests of each situation.
 * @param requests - The list of all requests, which grows during the run.
 */
export async function live<Request>(
  person: ScenarioUser,
  requests: readonly Request[],
): Promise<Map<string, Request[]>> {
  const bySituation = new Map<string, Request[]>();
  await person.begin();
  for (const [name, situation] of story) {
    const before = requests.length;
    await situation(person);
    bySituation.set(name, requests.slice(before));
  }
  return bySituation;
}
