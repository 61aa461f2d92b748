/** What all parts of the design page share: its elements, texts, requests and status line. */
import type { designer } from '../../../words.en.ts';
import type { BrandChoice } from './brand.ts';

type Key = keyof typeof designer;

/** A picture of the library. */
export interface Picture {
  src: string;
  name: string;
  alt: string;
  width: number;
  height: number;
}

/** The answer to a request of the page. Each answer has some of these fields. */
export interface Answer {
  problem?: string;
  html?: string;
  mjml?: string;
  /** True if the editor can show the mail as blocks. */
  isDrawable?: boolean;
  /** True if the service is in test mode, which keeps mails in the test outbox. */
  isKept?: boolean;
  /** The names of placeholders. */
  fields?: string[];
  subject?: string;
  email?: string;
  brand?: BrandChoice;
  /** The version of the stored content. */
  version?: string;
  blocks?: { id: string; name: string }[];
  pictures?: Picture[];
}

const pagePath = location.pathname;
const words: Record<Key, string> = JSON.parse(document.body.dataset.words ?? '{}');

/** True if the mail can no longer be changed. */
export const isLocked = document.body.dataset.locked !== '';

/** True if no mail is sent with this content yet. A draft may be saved unfinished. */
export const isDraft = document.body.dataset.draft !== '';

/** Returns the element with this id. Throws an Error if the page has none of this type. */
export function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`The page has no ${id}`);
  return element;
}

/** Returns a text in the page's language with its values filled in. */
export function say(key: Key, values: Readonly<Record<string, string>> = {}): string {
  return words[key].replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

/** The header with which the server answers errors in the page's language. */
export const inLanguage = { 'accept-language': document.documentElement.lang };

/** The content on the server is newer than the content that this page opened or saved last. */
export class NewerContent extends Error {}

/** How long the page waits for an answer. */
export const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Sends a request to the server: POST if there is a body, otherwise GET. If the server refuses, or does not answer in time, throws an Error
 * with the reason; NewerContent if the server has newer content.
 */
export async function call(
  path: string,
  body?: Record<string, string>,
  timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<Answer> {
  const init = body && { method: 'POST', body: JSON.stringify(body) };
  const type = body && { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(timeoutMs);
  const request = fetch(pagePath + path, { ...init, signal, headers: { ...inLanguage, ...type } });
  const [response, answer]: [Response, Answer] = await request
    .then(async (response): Promise<[Response, Answer]> => [response, await response.json()])
    .catch(() => {
      throw new Error(say('designer.unanswered'));
    });
  if (response.status === 412) throw new NewerContent(answer.problem);
  if (!response.ok) throw new Error(answer.problem);
  return answer;
}

/** Shows a sentence in the status line, which screen readers announce. */
export function tell(text: string): void {
  element('status', HTMLElement).textContent = text;
}

/** Shows `text` in the status line while `work` runs, then the text that `work` returns or the error that it throws. */
export async function showProgress(text: string, work: () => Promise<string>): Promise<void> {
  tell(text);
  try {
    tell(await work());
  } catch (error) {
    tell(problemOf(error));
  }
}

/** Returns what an error says. */
export function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Opens a dialog. Returns the value of the button that closed the dialog; empty if the dialog was cancelled. */
export function ask(id: string): Promise<string> {
  const dialog = element(id, HTMLDialogElement);
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue), { once: true });
  });
}

/** Creates a button with a text. */
export function button(text: string, onClick: () => void): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.textContent = text;
  element.addEventListener('click', onClick);
  return element;
}

/** Escapes a text for HTML and attribute values. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
