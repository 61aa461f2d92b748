/** The script of the image library: adds several pictures at once, which the user chooses, drops or pastes, and copies URLs. */
import { readPage } from './parts/read-page.ts';
import { scaledDown } from './parts/scaled-down.ts';

interface Props {
  words?: Record<'sending' | 'failed' | 'done' | 'some', string>;
  copied: string;
}

/** The server's answer about a file. */
interface Answer {
  /** Why the file was refused; null if it was added. */
  problem: string | null;
  /** A note about an added file; null if there is none. */
  note: string | null;
}

for (const island of document.querySelectorAll<HTMLElement>('[data-island="pictures"]')) {
  const props: Props = JSON.parse(island.dataset.props ?? '{}');
  copyOnClick(island, props.copied);
  const form = island.querySelector<HTMLFormElement>('form.add-pictures');
  if (form !== null && props.words) acceptFiles(island, form, props.words);
}

function say(island: HTMLElement, text: string): void {
  const news = island.querySelector('[data-pictures="news"]');
  if (news !== null) news.textContent = text;
}

/** Makes the buttons with `data-copy` copy their URL. */
function copyOnClick(island: HTMLElement, copied: string): void {
  const showButtons = () => {
    for (const button of island.querySelectorAll<HTMLElement>('[data-copy]')) button.hidden = false;
  };
  showButtons();
  new MutationObserver(showButtons).observe(island, { childList: true, subtree: true });
  island.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy]') : null;
    if (button === null) return;
    await navigator.clipboard.writeText(button.dataset.copy ?? '');
    // Screen readers announce a text again only if it has changed in between.
    say(island, '');
    say(island, copied);
    button.textContent = copied;
  });
}

/** Makes the form accept files that the user chooses, drops anywhere on the page, or pastes. */
function acceptFiles(island: HTMLElement, form: HTMLFormElement, words: NonNullable<Props['words']>) {
  const input = form.querySelector<HTMLInputElement>('input[type="file"]');
  const list = form.querySelector<HTMLElement>('[data-pictures="uploads"]');
  const send = form.querySelector<HTMLElement>('[data-pictures="send"]');
  if (input === null || list === null) return;
  input.multiple = true;
  // The form needs no button, because files are uploaded as soon as they are chosen.
  if (send !== null) send.hidden = true;
  input.addEventListener('change', () => {
    void addAll([...(input.files ?? [])]);
    input.value = '';
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  const mark = (isOver: boolean) => island.toggleAttribute('data-over', isOver);
  addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    mark(true);
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) mark(false);
  });
  addEventListener('drop', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    mark(false);
    void addAll([...event.dataTransfer.files]);
  });
  addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length > 0) void addAll(files);
  });

  /** Uploads one file after the other, so that the first picture appears soon even with a slow connection. */
  async function addAll(files: readonly File[]): Promise<void> {
    if (list === null) return;
    list.hidden = false;
    const rows = files.map((file) => new Row(list, file.name, words));
    let refused = 0;
    for (const [index, file] of files.entries()) {
      const row = rows[index];
      if (row === undefined) continue;
      try {
        const { problem, note } = await upload(await scaledDown(file), file.name, (share) => row.showProgress(share));
        if (problem !== null) refused++;
        row.showResult(problem, note);
      } catch {
        refused++;
        row.showResult(words.failed, null);
      }
    }
    say(island, refused === 0 ? words.done : words.some);
    await showLibrary(island);
  }
}

/** The row of one file in the list of uploads. */
class Row {
  readonly #row = document.createElement('li');
  readonly #progress = document.createElement('progress');

  constructor(list: HTMLElement, name: string, words: NonNullable<Props['words']>) {
    const title = document.createElement('bdi');
    title.textContent = name;
    this.#progress.max = 1;
    this.#progress.value = 0;
    this.#progress.setAttribute('aria-label', `${words.sending} ${name}`);
    this.#row.append(title, this.#progress);
    list.append(this.#row);
  }

  /** Shows which share of the file is uploaded, from 0 to 1. */
  showProgress(share: number): void {
    this.#progress.value = share;
  }

  /** Shows the problem or the note about the file. If both are null, removes the row, because the library now shows the picture. */
  showResult(problem: string | null, note: string | null): void {
    if (problem === null && note === null) {
      this.#row.remove();
      return;
    }
    const text = document.createElement('span');
    text.className = problem === null ? 'quiet-text' : 'problem';
    text.textContent = problem ?? note;
    this.#progress.replaceWith(text);
  }
}

/** Uploads a file. Uses XMLHttpRequest because fetch reports no upload progress. Rejects if there is no answer. */
function upload(bytes: Blob, name: string, onProgress: (share: number) => void): Promise<Answer> {
  const body = new FormData();
  body.append('file', bytes, name || 'picture');
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/images/add');
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / Math.max(1, total)));
    request.addEventListener('load', () =>
      request.status === 200 && request.response ? resolve(request.response) : reject(new Error('no answer')),
    );
    request.addEventListener('error', () => reject(new Error('no connection')));
    request.send(body);
  });
}

let latest = new AbortController();

/** Replaces the pictures on the page by those that the library has now. Ends an earlier call, whose answer would lack the newest pictures. */
async function showLibrary(island: HTMLElement): Promise<void> {
  latest.abort();
  latest = new AbortController();
  const page = await readPage('/images', latest.signal);
  if (!(page instanceof Document)) return;
  const library = page.getElementById('library');
  if (library !== null) island.querySelector('#library')?.replaceWith(document.adoptNode(library));
}
