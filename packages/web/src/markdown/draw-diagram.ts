import { limits } from '../diagram-frame/limits.ts';

/**
 * The address of the page that draws diagrams. The server's policy for that page (in the server's `static.ts`) forbids
 * all loading and sandboxes the page: its origin is opaque, so that it can reach neither the app's page nor the server.
 */
const framePath = '/diagram-frame.html';

/** The time limits in ms: for loading the frame's code, for drawing a diagram, and until an idle frame is removed. */
const times = { load: 60_000, draw: 20_000, idle: 60_000 };

interface Frame {
  element: HTMLIFrameElement;
  port: MessagePort;
}

let frame: Promise<Frame> | undefined;
let idle: ReturnType<typeof setTimeout> | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Renders a Mermaid diagram, and returns the address of an image. Rejects if the diagram has a mistake or takes too
 * long.
 */
export async function drawDiagram(code: string, isDark: boolean): Promise<string> {
  if (code.length > limits.characters || code.split('\n').length > limits.lines) {
    throw new Error('The diagram is too long to draw.');
  }
  // Diagrams are drawn one after another, because Mermaid's settings are global, and each diagram has its own time
  // limit.
  const drawn = last.then(() => requestDrawing(code, isDark));
  last = drawn.catch(() => undefined);
  return drawn;
}

async function requestDrawing(code: string, isDark: boolean): Promise<string> {
  clearTimeout(idle);
  frame ??= openFrame();
  try {
    const { port } = await frame;
    port.postMessage({ code, isDark });
    const { data } = await nextEvent<MessageEvent<unknown>>(port, 'message', times.draw);
    idle = setTimeout(() => void closeFrame(), times.idle);
    return imageIn(data);
  } catch (error) {
    if (error instanceof NoAnswer) await closeFrame();
    throw error;
  }
}

/**
 * Returns the address of the image in a frame's answer. The page does not trust the frame's answers: it checks them,
 * and shows them only as images.
 */
function imageIn(answer: unknown): string {
  if (typeof answer === 'object' && answer !== null && 'svg' in answer) {
    const { svg } = answer;
    if (typeof svg === 'string') {
      return `data:image/svg+xml,${encodeURIComponent(svg.toWellFormed())}`;
    }
  }
  throw new Error('The diagram has a mistake.');
}

async function openFrame(): Promise<Frame> {
  const element = document.createElement('iframe');
  element.src = framePath;
  element.title = 'Draws diagrams';
  element.inert = true;
  element.setAttribute('sandbox', 'allow-scripts');
  // The frame is invisible but laid out, because Mermaid measures its texts.
  element.style.cssText =
    'position: fixed; inset: 0; width: 100%; height: 100%; border: 0; visibility: hidden; contain: strict;';
  const loading = nextEvent(element, 'load', times.load);
  document.body.append(element);
  const { port1: port, port2: theirs } = new MessageChannel();
  try {
    await loading;
  } catch (error) {
    element.remove();
    throw error;
  }
  // The target must be `*`, because an opaque origin has no name that could be the target.
  element.contentWindow?.postMessage('', '*', [theirs]);
  port.start();
  return { element, port };
}

/** Closes the frame; the next diagram gets a new frame. */
async function closeFrame(): Promise<void> {
  const closing = frame;
  frame = undefined;
  const open = await closing?.catch(() => undefined);
  open?.port.close();
  open?.element.remove();
}

class NoAnswer extends Error {}

/** Resolves with the next event; rejects after `ms`. */
async function nextEvent<Received extends Event>(
  target: EventTarget,
  type: string,
  ms: number,
): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const listener = resolve as (event: Event) => void;
  const timer = setTimeout(() => reject(new NoAnswer('The diagram took too long.')), ms);
  target.addEventListener(type, listener, { once: true });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    target.removeEventListener(type, listener);
  }
}
