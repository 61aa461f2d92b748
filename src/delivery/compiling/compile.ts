/**
 * The worker threads for whole mails. One compiles templates, which may take seconds. The other only shows compiled mails, so that a
 * preview never waits for another account's template. Each thread runs one job at a time, and accounts take turns.
 */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { unavailable } from '../../errors/failure.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { readStored } from '../../errors/stored.ts';
import { threadFile } from '../../thread-files.ts';
import type { CheckedBuiltMail } from '../checks/built-mail.ts';
import type { ContentWarning } from '../checks/content-checks.ts';
import type { MailParts } from '../checks/mail-checks.ts';
import { type Content, ContentError, type ContentSource } from '../content/compiled-content.ts';
import { htmlConditionProblem } from '../content/html-regions.ts';
import { conditionOf, type MjmlNode, parseMjml } from '../content/mjml.ts';
import type { EditorView } from '../content/mjml-editor.ts';
import type { SentMail } from '../queue/sent-mail.ts';
import type { CheckedFile } from '../shown/file-check.ts';
import type { MarkedLink } from '../shown/link-badges.ts';
import type { FrameInput, MailFrame } from '../shown/mail-frame.ts';
import type { SketchInput } from '../shown/mail-sketch.ts';
import type { CheckedContent, CheckInput, CopyInput, MergedMail, ShowInput } from '../shown/shown-content.ts';

/** Frozen content as UTF-8 JSON, so that a thread that only passes the content on does not have to parse it. */
export interface FrozenText {
  readonly frozen: Uint8Array;
  /** The destinations of tracked links, by link number. */
  readonly links: readonly string[];
}

/** The jobs of the threads: the input and the result of each. */
export interface Jobs {
  compile: [ContentSource, Content];
  /** `facts` is a JSON object with the values that are frozen in addition to the content. */
  freeze: [{ source: ContentSource; facts: string }, FrozenText];
  render: [string, string];
  view: [string, EditorView];
  edit: [{ mjml: string; before: string }, string];
  check: [CheckInput, CheckedContent];
  show: [ShowInput, MergedMail];
  showHtml: [ShowInput, string];
  copy: [CopyInput, string];
  warnings: [{ texts: readonly string[]; known: readonly string[] | null }, ContentWarning[]];
  pictures: [string, string];
  frame: [FrameInput, MailFrame];
  links: [string, readonly MarkedLink[]];
  parts: [MailParts, CheckedBuiltMail];
  file: [string, CheckedFile];
  takeApart: [string, MailParts];
  sketch: [SketchInput, string];
  renderAgain: [SentMail, string | null];
}

/** A job request to a thread. */
export type JobRequest = { [Name in keyof Jobs]: { name: Name; input: Jobs[Name][0] } }[keyof Jobs];

/** The thread's reply: the result, or the problem with the template in its stored form. */
export type JobReply<Name extends keyof Jobs = keyof Jobs> = { result: Jobs[Name][1] } | { problem: string };

const TIME_LIMIT_MS = 30_000;
const MEMORY_LIMIT_MB = 512;
/** The limit for short-lived objects. V8's default is several times as large and no faster. */
const YOUNG_LIMIT_MB = 12;
/**
 * How long an idle thread is kept. Starting a thread and loading MJML takes half a second, which a user who pauses while writing should not
 * have to wait for again. In return, the thread's memory stays in use for this time.
 */
const IDLE_MS = 30_000;

/** A thread that starts on demand, and ends after it was idle for a while, to free the memory that MJML needs. */
class CompileThread {
  #worker: Worker | null = null;
  #isBusy = false;
  /** Waiting jobs by account. The first account is served next. */
  readonly #waiting = new Map<number, (() => void)[]>();
  #idleTimer: NodeJS.Timeout | undefined;

  /**
   * Runs a job for an account, after the account's earlier jobs and after one job of each other waiting account. Throws a ContentError that
   * says what is wrong with the template, also if the job exceeds `timeLimit` milliseconds or the memory limit, and 503 if the thread fails.
   */
  async ask<Name extends keyof Jobs>(
    accountId: number,
    name: Name,
    input: Jobs[Name][0],
    timeLimit = TIME_LIMIT_MS,
  ): Promise<Jobs[Name][1]> {
    await this.#turn(accountId);
    try {
      return await this.#askNow(name, input, timeLimit);
    } finally {
      this.#beginNext();
    }
  }

  /** Waits until the thread is free for a job of this account. */
  #turn(accountId: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waitingOfAccount = this.#waiting.get(accountId);
    if (waitingOfAccount === undefined) this.#waiting.set(accountId, [resolve]);
    else waitingOfAccount.push(resolve);
    if (!this.#isBusy) this.#beginNext();
    return promise;
  }

  /** Starts the next job and moves its account to the end of the queue. */
  #beginNext(): void {
    const [next] = this.#waiting;
    this.#isBusy = next !== undefined;
    if (next === undefined) return;
    const [accountId, [begin, ...later]] = next;
    this.#waiting.delete(accountId);
    if (later.length > 0) this.#waiting.set(accountId, later);
    begin?.();
  }

  async #askNow<Name extends keyof Jobs>(name: Name, input: Jobs[Name][0], timeLimit: number) {
    clearTimeout(this.#idleTimer);
    const worker = this.#worker ?? startThread();
    this.#worker = worker;
    worker.ref();
    try {
      worker.postMessage({ name, input });
      const answer = await this.#receive<Name>(worker, timeLimit);
      if ('problem' in answer) throw new ContentError(readStored(answer.problem));
      return answer.result;
    } finally {
      // An idle thread must not keep the process running.
      worker.unref();
      this.#idleTimer = globalThis.setTimeout(() => this.#stop(), IDLE_MS).unref();
    }
  }

  /** Waits for the thread's reply. A thread that fails is ended. */
  async #receive<Name extends keyof Jobs>(worker: Worker, timeLimit: number): Promise<JobReply<Name>> {
    const controller = new AbortController();
    const { signal } = controller;
    try {
      const [answer]: JobReply<Name>[] = await Promise.race([
        once(worker, 'message', { signal }),
        once(worker, 'exit', { signal }).then(([code]) => {
          throw new Error(`The compiling thread ended without an answer (${code}).`);
        }),
        setTimeout(timeLimit, undefined, { signal }).then(() => {
          throw new ContentError(sentence('content_complicated'));
        }),
      ]);
      if (answer === undefined) throw new Error('The compiling thread answered nothing.');
      return answer;
    } catch (error) {
      this.#worker = null;
      await worker.terminate();
      const isOutOfMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (isOutOfMemory) throw new ContentError(sentence('content_complicated'));
      // The thread crashed or could not start, so the template is not at fault.
      throw error instanceof ContentError ? error : unavailable(error);
    } finally {
      controller.abort();
    }
  }

  #stop(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }
}

function startThread(): Worker {
  // The same folder holds the sources in development and the built files in production.
  return new Worker(threadFile('compile-thread'), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB, maxYoungGenerationSizeMb: YOUNG_LIMIT_MB },
    // Keep the warnings about templates that MJML prints to stdout out of the log.
    stdout: true,
    stderr: true,
  });
}

/** The thread that compiles templates, and runs the checks of whole mails, which may also take seconds. */
export const compileThread = new CompileThread();

/** The thread that shows compiled mails. */
export const showThread = new CompileThread();

/**
 * Compiles content: MJML to HTML, adds preheader, footer and pixel, replaces links by tracked ones, and derives the text part.
 * @param timeLimit milliseconds after which the template is rejected as too complicated.
 */
export function compileContent(accountId: number, source: ContentSource, timeLimit?: number): Promise<Content> {
  return compileThread.ask(accountId, 'compile', source, timeLimit);
}

/** Compiles content as `compileContent` does. Returns it with the object `facts` as JSON, for a thread that only passes it on. */
export function compileFrozen(accountId: number, source: ContentSource, facts: object): Promise<FrozenText> {
  return compileThread.ask(accountId, 'freeze', { source, facts: JSON.stringify(facts) });
}

/** Renders a template in MJML's JSON form to HTML. Placeholders are kept, and nothing that a mailing adds is included. */
export function renderTemplate(accountId: number, template_json: string): Promise<string> {
  return compileThread.ask(accountId, 'render', template_json);
}

/** Converts a template in MJML's JSON form for the design editor; '' is an empty design. */
export function viewTemplate(accountId: number, template_json: string): Promise<EditorView> {
  return compileThread.ask(accountId, 'view', template_json);
}

/** Converts the markup of the design editor back to JSON; `before` is the template that was opened. */
export function editTemplate(accountId: number, mjml: string, before: string): Promise<string> {
  return compileThread.ask(accountId, 'edit', { mjml, before });
}

/** Returns the texts of an MJML element in their order. A condition on the element is written around them as `((if …))` and `((end))`. */
function textsOf(element: MjmlNode): string[] {
  const { content, children = [] } = element;
  const begin = conditionOf(element);
  const texts = [...(content === undefined ? [] : [content]), ...children.flatMap(textsOf)];
  return begin === null ? texts : [begin, ...texts, '((end))'];
}

/** Returns a problem with a template's JSON that can be found without compiling the template, for a field error; null if there is none. */
export function templateProblem(template_json: string): Said | null {
  try {
    return htmlConditionProblem(textsOf(parseMjml(template_json)).join('\n'));
  } catch (error) {
    if (error instanceof ContentError) return error.said;
    throw error;
  }
}
