/** Removes the escape sequences for colours, links and cursor movements. */
export function plainText(text: string): string {
  return text.replace(
    // oxlint-disable-next-line no-control-regex -- they are what it removes
    /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g,
    '',
  );
}
