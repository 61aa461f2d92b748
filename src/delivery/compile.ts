/**
 * Compiles a template's content once per mailing, in a thread of its own: what MJML loads is freed again, and a template
 * that takes forever stops nothing else.
 */
import { Worker } from 'node:worker_threads';
import { type Content, ContentError, type ContentSource } from './compiled.ts';
import { parseMjml } from './mjml.ts';

export { type Content, ContentError, type ContentSource } from './compiled.ts';

/** What the compiling thread answers. */
export type Compiled = { readonly content: Content } | { readonly problem: string };

const memoryLimitMb = 512;

/**
 * Compiles content: MJML to HTML, preheader, footer and pixel added, links made countable, the text part derived.
 * Takes about half a second for MJML.
 * @param timeLimit milliseconds after which a template counts as too complicated.
 * @throws ContentError with a text for the owner.
 */
export async function compileContent(source: ContentSource, timeLimit = 30_000): Promise<Content> {
  // The same folder holds the sources in development and the built files in production.
  const file = import.meta.url.endsWith('.ts') ? './compile-thread.ts' : './compile-thread.js';
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: source,
    resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
    // MJML comments on templates there; the log is not for that.
    stdout: true,
    stderr: true,
  });
  try {
    const answer = await answerOf(worker, timeLimit);
    if ('problem' in answer) throw new ContentError(answer.problem);
    return answer.content;
  } finally {
    await worker.terminate();
  }
}

/** What is wrong with a template's JSON at first sight, for a field error; null when it may be compiled. */
export function templateProblem(template_json: string): string | null {
  try {
    parseMjml(template_json);
    return null;
  } catch (error) {
    if (error instanceof ContentError) return error.message;
    throw error;
  }
}

function answerOf(worker: Worker, timeLimit: number): Promise<Compiled> {
  return new Promise((resolve, reject) => {
    const tooMuch = new ContentError('The template is too large or too complicated to compile.');
    const timer = setTimeout(reject, timeLimit, tooMuch);
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch : error);
    });
    worker.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`The compiling thread ended without an answer (${code}).`));
    });
  });
}
