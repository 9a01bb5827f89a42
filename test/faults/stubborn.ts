import { randomInt } from 'node:crypto';

/** The ways in which a process escapes its end, given the program to run. */
const ways = {
  'a plain fork': (program: string) => `${program} >/dev/null 2>&1 &`,
  'a process in a session of its own': (program: string) => `setsid -f ${program} >/dev/null 2>&1`,
  'a detached process that ignores every request to end': (program: string) =>
    `setsid -f sh -c 'trap "" HUP INT TERM; exec ${program}' >/dev/null 2>&1`,
  'a process that holds the output of the tool': (program: string) => `${program} &`,
  'a daemon by a double fork': (program: string) =>
    `setsid sh -c '(${program} </dev/null >/dev/null 2>&1 &)'`,
  // This must be the last command, because commands after it would not run.
  'the tool itself, still at work': (program: string) => program,
};

export type Way = keyof typeof ways;

export interface Stubborn {
  /** For the agent's shell. */
  command: string;
  /** For each way, the program's path as the process table shows it; no other process runs this program. */
  programs: Map<Way, string>;
}

/** One shell command that starts processes of every kind that is hard to end, and itself keeps running. */
export function stubborn(): Stubborn {
  const mark = randomInt(1_000_000, 9_999_999);
  const names = Object.keys(ways) as Way[];
  const programs = new Map(
    names.map((name, index) => [name, `tail -s ${index}.${mark} -f /dev/null`]),
  );
  const lines = [...programs].map(([name, program]) => ways[name](program));
  return { command: lines.join('\n'), programs };
}
