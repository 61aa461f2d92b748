/**
 * Compiles owners' templates in a separate thread, once for each mailing. The memory that MJML needs is freed when the thread has
 * been idle, and a template that never finishes compiling blocks nothing else.
 */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { threadFile } from '../../thread-files.ts';
import type { CheckContext, ContentFinding } from '../checks/content-checks.ts';
import type { Finding } from '../checks/mail-checks.ts';
import { type Content, ContentError, type ContentSource } from './compiled-content.ts';
import type { Values } from './merge.ts';
import { parseMjml } from './mjml.ts';
import type { EditorView } from './mjml-editor.ts';

/** A request to the compiling thread. */
export type Task =
  | { readonly kind: 'compile'; readonly source: ContentSource }
  | { readonly kind: 'render'; readonly template_json: string }
  | { readonly kind: 'view'; readonly template_json: string }
  | { readonly kind: 'edit'; readonly mjml: string; readonly before: string }
  | { readonly kind: 'check'; readonly content: Content; readonly values: Values; readonly context: CheckContext };

/** A merged mail as its owner checks it. */
export interface CheckedContent {
  subject: string;
  /** The beginning of the text part, of 100 000 characters at most. */
  text: string;
  /** The characters of the whole text part. */
  textLength: number;
  own: ContentFinding[];
  shared: Finding[];
}

/** Its reply. */
export type Answer =
  | { readonly content: Content }
  | { readonly html: string }
  | { readonly view: EditorView }
  | { readonly template_json: string }
  | { readonly checked: CheckedContent }
  | { readonly problem: string };

const TOO_MUCH = 'The template is too large or too complicated to compile.';
const TIME_LIMIT_MS = 30_000;
const MEMORY_LIMIT_MB = 512;
/** For short-lived objects. V8's own limit is several times as large and saves no time. */
const YOUNG_LIMIT_MB = 12;
/** How long an idle thread is kept: starting it and loading MJML takes half a second, so several campaigns share one. */
const IDLE_MS = 5_000;

let thread: Worker | null = null;
let last: Promise<unknown> = Promise.resolve();
let idleTimer: NodeJS.Timeout | undefined;

/**
 * Compiles content: MJML to HTML, preheader, footer and pixel added, links replaced by tracked ones, the text part derived.
 * Templates are compiled one at a time.
 * @param timeLimit milliseconds after which a template counts as too complicated.
 * @throws ContentError with a message for the owner.
 */
export async function compileContent(source: ContentSource, timeLimit = TIME_LIMIT_MS): Promise<Content> {
  const answer = await ask({ kind: 'compile', source }, timeLimit);
  if ('content' in answer) return answer.content;
  throw new Error('The compiling thread answered something else.');
}

/** The HTML of a template in MJML's JSON form, with its placeholders and without what a mailing adds. Throws ContentError. */
export async function renderTemplate(template_json: string): Promise<string> {
  const answer = await ask({ kind: 'render', template_json });
  if ('html' in answer) return answer.html;
  throw new Error('The compiling thread answered something else.');
}

/** The view of a template in MJML's JSON form for the design editor; '' is an empty design. Throws ContentError. */
export async function viewTemplate(template_json: string): Promise<EditorView> {
  const answer = await ask({ kind: 'view', template_json });
  if ('view' in answer) return answer.view;
  throw new Error('The compiling thread answered something else.');
}

/** The JSON form of the markup that the design editor made from the template `before`. Throws ContentError. */
export async function editTemplate(mjml: string, before: string): Promise<string> {
  const answer = await ask({ kind: 'edit', mjml, before });
  if ('template_json' in answer) return answer.template_json;
  throw new Error('The compiling thread answered something else.');
}

/** Merges a mail for one person and checks it: reading a large mail takes long. Throws ContentError. */
export async function checkMerged(content: Content, values: Values, context: CheckContext): Promise<CheckedContent> {
  const answer = await ask({ kind: 'check', content, values, context });
  if ('checked' in answer) return answer.checked;
  throw new Error('The compiling thread answered something else.');
}

function ask(task: Task, timeLimit = TIME_LIMIT_MS): Promise<Answer> {
  const result = last.then(() => askNow(task, timeLimit));
  last = result.catch(() => undefined);
  return result;
}

async function askNow(task: Task, timeLimit: number): Promise<Answer> {
  clearTimeout(idleTimer);
  const worker = thread ?? startThread();
  thread = worker;
  worker.ref();
  try {
    worker.postMessage(task);
    const answer = await receiveAnswer(worker, timeLimit);
    if ('problem' in answer) throw new ContentError(answer.problem);
    return answer;
  } catch (error) {
    if (thread === null) await worker.terminate();
    throw error;
  } finally {
    // An idle thread must not keep the process running.
    worker.unref();
    idleTimer = globalThis.setTimeout(stopThread, IDLE_MS).unref();
  }
}

function startThread(): Worker {
  // The same folder holds the sources in development and the built files in production.
  return new Worker(threadFile('compile-thread'), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB, maxYoungGenerationSizeMb: YOUNG_LIMIT_MB },
    // MJML prints warnings about templates, which do not belong in our log.
    stdout: true,
    stderr: true,
  });
}

function stopThread(): void {
  void thread?.terminate();
  thread = null;
}

/** The problem with a template's JSON that can be found without compiling, for a field error; null if there is none. */
export function templateProblem(template_json: string): string | null {
  try {
    parseMjml(template_json);
    return null;
  } catch (error) {
    if (error instanceof ContentError) return error.message;
    throw error;
  }
}

/** Waits for the thread's reply. A thread that failed is not used again. */
async function receiveAnswer(worker: Worker, timeLimit: number): Promise<Answer> {
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
