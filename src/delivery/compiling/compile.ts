/**
 * The threads that work on whole mails. One compiles owners' templates, which may take seconds; the other only shows mails that are
 * compiled, so that nobody who looks at a mail waits for somebody else's template. Each does one thing after the other, for one account after
 * the other.
 */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { unavailable } from '../../errors/failure.ts';
import { readStored } from '../../errors/stored.ts';
import { threadFile } from '../../thread-files.ts';
import type { ContentWarning } from '../checks/content-checks.ts';
import { type Content, ContentError, type ContentSource } from '../content/compiled-content.ts';
import { parseMjml } from '../content/mjml.ts';
import type { EditorView } from '../content/mjml-editor.ts';
import type { Framing, MailFrame, MarkedLink } from '../shown/mail-frame.ts';
import type { CheckedContent, Checking, Copying, Showing, Shown } from '../shown/shown-content.ts';

/** Frozen content as the bytes of its JSON: a thread that only passes it on takes neither texts nor objects from another. */
export interface FrozenText {
  readonly frozen: Uint8Array;
  /** The destinations of tracked links by number. */
  readonly links: readonly string[];
}

/** What the threads do: what each job takes, and what it gives. */
export interface Jobs {
  compile: [ContentSource, Content];
  /** `facts` is the JSON of an object with what is frozen besides the content. */
  freeze: [{ source: ContentSource; facts: string }, FrozenText];
  render: [string, string];
  view: [string, EditorView];
  edit: [{ mjml: string; before: string }, string];
  check: [Checking, CheckedContent];
  show: [Showing, Shown];
  showHtml: [Showing, string];
  copy: [Copying, string];
  warnings: [{ texts: readonly string[]; known: readonly string[] | null }, ContentWarning[]];
  pictures: [string, string];
  frame: [Framing, MailFrame];
  links: [string, readonly MarkedLink[]];
}

/** A request to a thread. */
export type Order = { [Name in keyof Jobs]: { name: Name; input: Jobs[Name][0] } }[keyof Jobs];

/** Its reply: the result, or what is wrong with the template, in its stored form. */
export type Answer<Name extends keyof Jobs = keyof Jobs> = { result: Jobs[Name][1] } | { problem: string };

const TOO_MUCH = 'The template is too large or too complicated to compile.';
const TIME_LIMIT_MS = 30_000;
const MEMORY_LIMIT_MB = 512;
/** For short-lived objects. V8's own limit is several times as large and saves no time. */
const YOUNG_LIMIT_MB = 12;
/** How long an idle thread is kept: starting it and loading MJML takes half a second, so several campaigns share one. */
const IDLE_MS = 5_000;

/** A thread that is started when it is needed, and ended when it has been idle, which frees the memory that MJML needs. */
class CompileThread {
  #worker: Worker | null = null;
  #isBusy = false;
  /** What waits, by account. The account that is served next comes first. */
  readonly #waiting = new Map<number, (() => void)[]>();
  #idleTimer: NodeJS.Timeout | undefined;

  /**
   * Does a job for an account, when its earlier ones have ended and each other account that waits had one done. Throws ContentError with what
   * is wrong with the template, also when the job takes longer than `timeLimit` milliseconds or too much memory, and 503 when the thread fails.
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

  /** Waits until the thread is free for a job of the account. */
  #turn(accountId: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = this.#waiting.get(accountId);
    if (own === undefined) this.#waiting.set(accountId, [resolve]);
    else own.push(resolve);
    if (!this.#isBusy) this.#beginNext();
    return promise;
  }

  /** Begins the next job; the account it is for goes behind the others. */
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
    } catch (error) {
      if (this.#worker === null) await worker.terminate();
      throw error;
    } finally {
      // An idle thread must not keep the process running.
      worker.unref();
      this.#idleTimer = globalThis.setTimeout(() => this.#stop(), IDLE_MS).unref();
    }
  }

  /** Waits for the thread's reply. A thread that failed is not used again. */
  async #receive<Name extends keyof Jobs>(worker: Worker, timeLimit: number): Promise<Answer<Name>> {
    const waiting = new AbortController();
    const { signal } = waiting;
    try {
      const [answer]: Answer<Name>[] = await Promise.race([
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
      this.#worker = null;
      const isOutOfMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (isOutOfMemory) throw new ContentError(TOO_MUCH);
      // The thread ended or could not start, which has nothing to do with the template.
      throw error instanceof ContentError ? error : unavailable(error);
    } finally {
      waiting.abort();
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
    // MJML prints warnings about templates, which do not belong in our log.
    stdout: true,
    stderr: true,
  });
}

/** Compiles templates, and reads whole mails for the checks, which takes seconds, too. */
export const compiling = new CompileThread();

/** Shows compiled mails. */
export const showing = new CompileThread();

/**
 * Compiles content: MJML to HTML, preheader, footer and pixel added, links replaced by tracked ones, the text part derived.
 * @param timeLimit milliseconds after which a template counts as too complicated.
 */
export function compileContent(accountId: number, source: ContentSource, timeLimit?: number): Promise<Content> {
  return compiling.ask(accountId, 'compile', source, timeLimit);
}

/** The same content with the `facts` besides it, which is an object, as JSON for a thread that only passes it on. */
export function compileFrozen(accountId: number, source: ContentSource, facts: object): Promise<FrozenText> {
  return compiling.ask(accountId, 'freeze', { source, facts: JSON.stringify(facts) });
}

/** The HTML of a template in MJML's JSON form, with its placeholders and without what a mailing adds. */
export function renderTemplate(accountId: number, template_json: string): Promise<string> {
  return compiling.ask(accountId, 'render', template_json);
}

/** The view of a template in MJML's JSON form for the design editor; '' is an empty design. */
export function viewTemplate(accountId: number, template_json: string): Promise<EditorView> {
  return compiling.ask(accountId, 'view', template_json);
}

/** The JSON form of the markup that the design editor made from the template `before`. */
export function editTemplate(accountId: number, mjml: string, before: string): Promise<string> {
  return compiling.ask(accountId, 'edit', { mjml, before });
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
