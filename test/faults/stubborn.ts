import { randomInt } from 'node:crypto';

/** How each escapes those who would end it, given the program to run. */
const ways = {
  'a plain fork': (program: string) => `${program} >/dev/null 2>&1 &`,
  'one in a process session of its own': (program: string) =>
    `setsid -f ${program} >/dev/null 2>&1`,
  'a detached one that ignores every request to end': (program: string) =>
    `setsid -f sh -c 'trap "" HUP INT TERM; exec ${program}' >/dev/null 2>&1`,
  'one that holds the output of the tool': (program: string) => `${program} &`,
  'a daemon by a double fork': (program: string) =>
    `setsid sh -c '(${program} </dev/null >/dev/null 2>&1 &)'`,
  // Last, since nothing after it would be run.
  'the tool itself, still at work': (program: string) => program,
};

export type Way = keyof typeof ways;

export interface Stubborn {
  /** For the agent's shell. */
  command: string;
  /** The program that got out in each way, as the process table shows it: nobody else runs one like it. */
  programs: Map<Way, string>;
}

/** One shell command that starts processes of every kind that is hard to end, and itself stays. */
export function stubborn(): Stubborn {
  const mark = randomInt(1_000_000, 9_999_999);
  const names = Object.keys(ways) as Way[];
  const programs = new Map(
    names.map((name, index) => [name, `tail -s ${index}.${mark} -f /dev/null`]),
  );
  const lines = [...programs].map(([name, program]) => ways[name](program));
  return { command: lines.join('\n'), programs };
}
