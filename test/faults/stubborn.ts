import { randomInt } from 'node:crypto';

/** The ways in which a process can avoid being ended. Each way is a function of the program to run. */
const ways = {
  'a plain fork': (program: string) => `${program} >/dev/null 2>&1 &`,
  'a process in a session of its own': (program: string) => `setsid -f ${program} >/dev/null 2>&1`,
  'a detached process that ignores every request to end': (program: string) =>
    `setsid -f sh -c 'trap "" HUP INT TERM; exec ${program}' >/dev/null 2>&1`,
  'a process that holds the output of the tool': (program: string) => `${program} &`,
  'a daemon by a double fork': (program: string) =>
    `setsid sh -c '(${program} </dev/null >/dev/null 2>&1 &)'`,
  // This must be the last command, because the shell would not run commands after it.
  'the tool itself, still at work': (program: string) => program,
};

export type Way = keyof typeof ways;

export interface Stubborn {
  /** One command for the agent's shell. The command starts the stubborn processes. */
  command: string;
  /** For each way, the path of the program as the process table shows it. No other process runs this program. */
  programs: Map<Way, string>;
}

/** Returns one shell command. It starts processes of every kind that is hard to end, and it keeps running itself. */
export function stubborn(): Stubborn {
  const mark = randomInt(1_000_000, 9_999_999);
  const names = Object.keys(ways) as Way[];
  const programs = new Map(
    names.map((name, index) => [name, `tail -s ${index}.${mark} -f /dev/null`]),
  );
  const lines = [...programs].map(([name, program]) => ways[name](program));
  return { command: lines.join('\n'), programs };
}
