/**
 * Returns the CPU time that the work takes on this thread, in ms. Unlike elapsed time, CPU time does not grow while
 * other programs use the machine.
 */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
