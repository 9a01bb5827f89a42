/** The code of the thread that converts one page: see `page-text.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { htmlText } from './html-text.ts';

parentPort?.postMessage(htmlText(workerData as string));
