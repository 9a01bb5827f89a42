import mermaid from 'mermaid';

/** A larger diagram (characters, lines, edges) would block the page. */
const most = { characters: 8000, lines: 150, edges: 50 };

/** Drawn in this font, which an image has too. */
const fontFamily = 'system-ui, sans-serif';

/** Settings that a diagram's directives cannot change. */
const secure = [
  'secure',
  'securityLevel',
  'startOnLoad',
  'maxTextSize',
  'maxEdges',
  'suppressErrorRendering',
  'htmlLabels',
  'fontFamily',
  'themeCSS',
  'dompurifyConfig',
  'deterministicIds',
];

let count = 0;
let last: Promise<unknown> = Promise.resolve();

/** Renders a Mermaid diagram and gives it as an image address. Rejects if the diagram has a mistake. */
export async function drawDiagram(code: string, isDark: boolean): Promise<string> {
  if (code.length > most.characters || code.split('\n').length > most.lines) {
    throw new Error('The diagram is too long to be drawn.');
  }
  // One after another: Mermaid's settings are global.
  const drawn = last.then(() => draw(code, isDark));
  last = drawn.catch(() => undefined);
  return drawn;
}

async function draw(code: string, isDark: boolean): Promise<string> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    maxTextSize: most.characters,
    maxEdges: most.edges,
    theme: isDark ? 'dark' : 'default',
    fontFamily,
    secure,
  });
  const place = document.createElement('div');
  // Mermaid measures each text where it draws: what it changes must not lay the page out anew.
  place.style.cssText = 'position: fixed; inset: 0; contain: strict; visibility: hidden;';
  document.body.append(place);
  try {
    const { svg } = await mermaid.render(`diagram-${++count}`, code, place);
    return asImage(svg);
  } finally {
    place.remove();
  }
}

/** An image is XML, and is as big as it says. */
function asImage(html: string): string {
  const svg = new DOMParser().parseFromString(html, 'text/html').querySelector('svg');
  if (svg === null) throw new Error('There is nothing in the diagram.');
  const [, , width = 0, height = 0] = (svg.getAttribute('viewBox') ?? '')
    .split(/[\s,]+/)
    .map(Number);
  if (width > 0 && height > 0) {
    svg.setAttribute('width', String(Math.ceil(width)));
    svg.setAttribute('height', String(Math.ceil(height)));
  }
  svg.style.removeProperty('max-width');
  const xml = new XMLSerializer().serializeToString(svg);
  return `data:image/svg+xml,${encodeURIComponent(xml)}`;
}
