/**
 * Works on owners' templates in a thread of its own, compiling each content once per mailing: what MJML loads is freed again when
 * the thread has been idle, and a template that takes forever stops nothing else.
 */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { threadFile } from '../../thread-files.ts';
import { type Content, ContentError, type ContentSource } from './compiled-content.ts';
import { parseMjml } from './mjml.ts';
import type { EditorView } from './mjml-editor.ts';

/** What the compiling thread is asked. */
export type Task =
  | { readonly kind: 'compile'; readonly source: ContentSource }
  | { readonly kind: 'view'; readonly template_json: string }
  | { readonly kind: 'edit'; readonly mjml: string; readonly before: string };

/** What it answers. */
export type Answer =
  | { readonly content: Content }
  | { readonly view: EditorView }
  | { readonly template_json: string }
  | { readonly problem: string };

const TOO_MUCH = 'The template is too large or too complicated to compile.';
const TIME_LIMIT_MS = 30_000;
const memoryLimitMb = 512;
/** Of short-lived objects: V8's own limit is several times this and saves no time. */
const youngLimitMb = 12;
/** Starting the thread and loading MJML takes half a second; a few campaigns in a row share one. */
const idleMs = 5_000;

let thread: Worker | null = null;
let last: Promise<unknown> = Promise.resolve();
let retirement: NodeJS.Timeout | undefined;

/**
 * Compiles content: MJML to HTML, preheader, footer and pixel added, links made countable, the text part derived. One after
 * the other.
 * @param timeLimit milliseconds after which a template counts as too complicated.
 * @throws ContentError with a text for the owner.
 */
export async function compileContent(source: ContentSource, timeLimit = TIME_LIMIT_MS): Promise<Content> {
  const answer = await ask({ kind: 'compile', source }, timeLimit);
  if ('content' in answer) return answer.content;
  throw new Error('The compiling thread answered something else.');
}

/** What the design page's editor gets of a template in MJML's JSON form, '' for an empty design. Throws ContentError. */
export async function viewTemplate(template_json: string): Promise<EditorView> {
  const answer = await ask({ kind: 'view', template_json });
  if ('view' in answer) return answer.view;
  throw new Error('The compiling thread answered something else.');
}

/** The JSON form of the markup that the editor made of the template `before`. Throws ContentError. */
export async function editTemplate(mjml: string, before: string): Promise<string> {
  const answer = await ask({ kind: 'edit', mjml, before });
  if ('template_json' in answer) return answer.template_json;
  throw new Error('The compiling thread answered something else.');
}

function ask(task: Task, timeLimit = TIME_LIMIT_MS): Promise<Answer> {
  const result = last.then(() => askNow(task, timeLimit));
  last = result.catch(() => undefined);
  return result;
}

async function askNow(task: Task, timeLimit: number): Promise<Answer> {
  clearTimeout(retirement);
  const worker = thread ?? startThread();
  thread = worker;
  worker.ref();
  try {
    worker.postMessage(task);
    const answer = await answerOf(worker, timeLimit);
    if ('problem' in answer) throw new ContentError(answer.problem);
    return answer;
  } catch (error) {
    if (thread === null) await worker.terminate();
    throw error;
  } finally {
    // An idle thread keeps no process alive.
    worker.unref();
    retirement = globalThis.setTimeout(retire, idleMs).unref();
  }
}

function startThread(): Worker {
  // The same folder holds the sources in development and the built files in production.
  return new Worker(threadFile('compile-thread'), {
    resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb, maxYoungGenerationSizeMb: youngLimitMb },
    // MJML comments on templates there; the log is not for that.
    stdout: true,
    stderr: true,
  });
}

function retire(): void {
  void thread?.terminate();
  thread = null;
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

/** The thread's answer to what it was just given. A thread that has failed is not asked again. */
async function answerOf(worker: Worker, timeLimit: number): Promise<Answer> {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    const [answer]: Answer[] = await Promise.race([
      once(worker, 'message', { signal }),
      once(worker, 'exit', { signal }).then(([code]) => {
        throw new Error(`The compiling thread ended without an answer (${code}).`);
      }),
      setTimeout(timeLimit, undefined, { signal }).then(() => {
        throw new ContentError(TOO_MUCH);
      }),
    ]);
    if (answer === undefined) throw new Error('The compiling thread answered nothing.');
    return answer;
  } catch (error) {
    thread = null;
    const isOutOfMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    throw isOutOfMemory ? new ContentError(TOO_MUCH) : error;
  } finally {
    waiting.abort();
  }
}
