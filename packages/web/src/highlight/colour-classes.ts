/** One class for each style of code. Thousands of elements share a class, because inline styles would be slow. */
const classes = new Map<string, string>();
let sheet: CSSStyleSheet | undefined;

/** Returns the class for elements with these CSS declarations. */
export function classOf(css: string): string {
  const known = classes.get(css);
  if (known !== undefined) return known;
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    document.adoptedStyleSheets.push(sheet);
  }
  const name = `code-${classes.size}`;
  classes.set(css, name);
  sheet.insertRule(`.${name} { ${css} }`);
  return name;
}
