import { OtlpReceiver } from '@liminal/testkit/otlp-receiver';
import { type Figure, median, repeat, shareOf } from '../parts/figure.ts';
import { play } from '../parts/play.ts';

const floodSize = 300_000;
/** The number is odd, so that there is a middle pair. */
const rounds = 5;

/**
 * Measures how much sending spans costs a server under full load, compared with the same server without tracing.
 * `flatOut` measures a server without tracing, which runs no tracing code.
 */
export async function* tracing(): AsyncGenerator<Figure> {
  const receiver = await OtlpReceiver.start();
  try {
    yield await tracedShare(receiver);
  } finally {
    await receiver.close();
  }
}

async function tracedShare(receiver: OtlpReceiver): Promise<Figure> {
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const rate = async (env: NodeJS.ProcessEnv): Promise<number> => {
    const { wallMs } = await play({ count: floodSize, rate: 0, cadenceMs: 33, env });
    return (floodSize * 1_000) / wallMs;
  };
  // Measure both servers alternately, so that the machine's load is the same for both.
  const pairs = await repeat(rounds, async () => ({
    floor: await rate({}),
    ours: await rate(traced),
  }));
  const names = new Set(receiver.at('/v1/traces').spans.map(({ name }) => name));
  if (!names.has('delivery websocket'))
    throw new Error('The server sent no spans, so their cost cannot be measured.');
  const [off, on] = [
    median(pairs.map(({ floor }) => floor)),
    median(pairs.map(({ ours }) => ours)),
  ];
  return {
    name: 'tracing, flat out, share of the rate without',
    ...shareOf(pairs, 90, 'deltas/s'),
    detail: `${Math.round(on)} against ${Math.round(off)} deltas/s, medians of ${rounds}; the share is that of each pair`,
  };
}
