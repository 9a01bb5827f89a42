/** The token of measured servers, which run on loopback for a minute. */
export const token = 'bench-token-bench-token-bench-token';
