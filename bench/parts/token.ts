/** The token of servers under measurement, which live on loopback for a minute. */
export const token = 'bench-token-bench-token-bench-token';
