/**
 * Draws the diagrams that the page sends. This program runs in a frame with an opaque origin and no network. Mermaid
 * turns the labels that agents write into HTML; in this frame, that HTML can reach nothing.
 */
import mermaid from 'mermaid';
import { limits } from './limits.ts';

/** Use a font of the system, because an image can load no other fonts. */
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

interface DrawRequest {
  code: string;
  isDark: boolean;
}

addEventListener('message', ({ source, ports: [port] }) => {
  if (source !== parent || port === undefined) return;
  port.addEventListener('message', ({ data }: MessageEvent<DrawRequest>) => {
    drawDiagram(data).then(
      (svg) => port.postMessage({ svg }),
      (error: unknown) => port.postMessage({ problem: String(error) }),
    );
  });
  port.start();
});

let count = 0;

async function drawDiagram({ code, isDark }: DrawRequest): Promise<string> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    maxTextSize: limits.characters,
    maxEdges: limits.edges,
    theme: isDark ? 'dark' : 'default',
    fontFamily,
    secure,
  });
  const place = document.createElement('div');
  document.body.append(place);
  try {
    const { svg } = await mermaid.render(`diagram-${++count}`, code, place);
    return asXml(svg);
  } finally {
    place.remove();
  }
}

/** Converts the SVG to XML with a width and a height, as an image needs. */
function asXml(html: string): string {
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
  return new XMLSerializer().serializeToString(svg);
}
