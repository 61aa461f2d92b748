/** What all parts of the design page use: its elements, its texts, its requests and its status line. */
import type { designer } from '../../../words.en.ts';
import type { BrandChoice } from './brand.ts';

type Key = keyof typeof designer;

/** An answer of the page's own requests; each has some of these. */
interface Answer {
  problem?: string;
  html?: string;
  mjml?: string;
  isDrawable?: boolean;
  isKept?: boolean;
  fields?: string[];
  subject?: string;
  email?: string;
  brand?: BrandChoice;
  blocks?: { id: string; name: string }[];
}

const pagePath = location.pathname;
const words: Record<Key, string> = JSON.parse(document.body.dataset.words ?? '{}');

/** Whether the mail can no longer be changed. */
export const isLocked = document.body.dataset.locked !== '';

/** Whether no mail leaves with this content yet, so that it may be saved before it is finished. */
export const isDraft = document.body.dataset.draft !== '';

/** The element with this id. Throws an Error when the page has none of this type. */
export function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${id}`);
  return found;
}

/** A text in the page's language with its values filled in. */
export function say(key: Key, values: Readonly<Record<string, string>> = {}): string {
  return words[key].replaceAll(/\{(\w+)\}/g, (hole, name: string) => values[name] ?? hole);
}

/** Asks the server; a body makes it a POST. Throws an Error with the reason when it refuses. */
export async function call(path: string, body?: Record<string, string>): Promise<Answer> {
  const init = body && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const response = await fetch(pagePath + path, init);
  const answer: Answer = await response.json();
  if (!response.ok) throw new Error(answer.problem);
  return answer;
}

/** Shows a sentence in the status line, which is read aloud. */
export function tell(text: string): void {
  element('status', HTMLElement).textContent = text;
}

/** Does something and shows its progress, result or error in the status line. */
export async function showProgress(text: string, work: () => Promise<string>): Promise<void> {
  tell(text);
  try {
    tell(await work());
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
  }
}

/** Opens a dialog; gives the value of the button it was closed with, or '' when it was left. */
export function ask(id: string): Promise<string> {
  const dialog = element(id, HTMLDialogElement);
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue), { once: true });
  });
}

/** Makes a button with a text. */
export function button(text: string, onClick: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.addEventListener('click', onClick);
  return made;
}

/** Text as it is written in HTML and in values of attributes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
