/** The thread that compiles mails' content, one after the other. */
import { parentPort } from 'node:worker_threads';
import { buildContent } from './build.ts';
import type { Compiled } from './compile.ts';
import { ContentError, type ContentSource } from './compiled.ts';

async function compile(source: ContentSource): Promise<Compiled> {
  try {
    return { content: await buildContent(source) };
  } catch (error) {
    if (error instanceof ContentError) return { problem: error.message };
    // The template's shape is all that varies here, so the libraries' failures are its failures too.
    const reason = error instanceof RangeError ? 'it is too large or nested too deeply' : String(error);
    return { problem: `The template could not be compiled: ${reason}.` };
  }
}

parentPort?.on('message', async (source: ContentSource) => parentPort?.postMessage(await compile(source)));
