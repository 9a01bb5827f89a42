/** @param {unknown} error */
export function complain(error) {
  console.error(error instanceof Error ? error.message : error);
}
